// The clients inside `settings` of an inbound that is added or updated: all of them are stored with the inbound, or
// nothing is.
import {
  findUnknownKeys,
  inspectInSlices,
  issuesAt,
  kernelErrors,
  PanelError,
  type Principal,
  TimeSlice,
  sentenceOf,
} from '../../../kernel/index.js';
import {
  clientlessReason,
  type ClientsPlan,
  inboundErrors,
  type InboundsApi,
  type SentClients,
} from '../../inbounds/contract.js';
import { credentialsFor, flatFields } from '../credentials/sent.js';
import type { ClientService } from '../edits/client-service.js';
import type { ClientWriter } from '../edits/client-writer.js';
import { NEW_INBOUND, NO_CHANGES } from '../edits/write-request.js';
import type { ClientEdit } from '../edits/edit.js';
import { errors } from '../errors.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey, uniqueFields } from '../model/fields.js';
import { chosenSwitch } from '../model/field-changes.js';
import type { ClientRow } from '../model/row.js';
import { type ClientPatch, NewClient } from '../model/schema.js';

const PATH = 'settings.clients';
/** Clients that come with an inbound, in its one transaction. More would take longer than a caller waits. */
export const MOST_CLIENTS = 20_000;

interface Sent {
  readonly index: number;
  readonly client: NewClient;
  /** the client that it is, if there is one */
  row?: ClientRow;
}

const ERRORS = [kernelErrors.INVALID, ...Object.values(errors)];

/** The error of one client, with its place in the list. */
function at({ index, client }: Sent, error: PanelError): PanelError {
  const again = ERRORS.find(({ code }) => code === error.code);
  if (!again) return error;
  const field = error.issues[0]?.path.replace(/^client\./, '') ?? 'email';
  return again(`${PATH}[${index}] (${client.email}): ${error.message}`, {
    path: `${PATH}.${index}.${field}`,
    cause: error,
  });
}

export class SentClientsPlanner {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #service: ClientService;
  readonly #writer: ClientWriter;

  constructor(needs: {
    store: ClientStore;
    inbounds: InboundsApi;
    service: ClientService;
    writer: ClientWriter;
  }) {
    this.#store = needs.store;
    this.#inbounds = needs.inbounds;
    this.#service = needs.service;
    this.#writer = needs.writer;
  }

  /** Clients that the inbound has and that were not sent are detached: they keep their usage, and their other inbounds. */
  async plan({ clients, before, saved, who, ignored }: SentClients): Promise<ClientsPlan> {
    const sent = await this.#read(clients, ignored);
    const reason = clientlessReason(this.#inbounds.protocol(saved.protocol), saved);
    if (sent.length > 0 && reason !== undefined) throw inboundErrors.NO_CLIENTS(reason, { path: PATH });
    const inboundId = before?.id ?? NEW_INBOUND;
    await this.#recognize(sent, inboundId);
    const known = sent.filter((entry): entry is Sent & { row: ClientRow } => entry.row !== undefined);
    const edits = await this.#editsOf(known, inboundId, who);
    const listed = new Set(known.map(({ row }) => row.id));
    const detached = before
      ? this.#store.roster
          .ordered('id')
          .filter(({ id, inboundIds }) => inboundIds.includes(inboundId) && !listed.has(id))
          .map((row): ClientEdit => ({ row, detach: [inboundId] }))
      : [];
    const fresh = sent.filter(({ row }) => !row);
    const { request, indexes } = await this.#added(fresh, inboundId, who);
    const { run, apply } = await this.#writer.plan(
      { ...request, edits: [...edits, ...detached], fieldPrefix: `${PATH}.` },
      who,
    );
    let written = NO_CHANGES;
    const attached = edits.filter(({ attach }) => attach).length;
    const other = known.filter(({ row, client }) => hasOtherUuid(row, client, inboundId)).length;
    const changed = edits.filter(({ attach, fields = {} }) => !attach && Object.keys(fields).length > 0);
    return {
      write: async (tx, inbound) => {
        written = await run(tx, inbound);
        const [first] = written.refused;
        if (first) throw at(fresh[indexes.get(first.row) ?? 0] as Sent, first.error);
      },
      apply: () => apply(written),
      note: noteOf({
        created: request.added.length,
        attached,
        changed: changed.length,
        detached: detached.length,
        'with the UUID they had, not the one that was sent': other,
      }),
    };
  }

  async #read(clients: unknown, ignored: Set<string>): Promise<Sent[]> {
    if (!Array.isArray(clients)) throw kernelErrors.INVALID(`${PATH} must be a list`, { path: PATH });
    if (clients.length > MOST_CLIENTS)
      throw kernelErrors.INVALID(
        `${PATH} holds more than ${MOST_CLIENTS} clients; add the rest with clients/import`,
        { path: PATH },
      );
    const sent: Sent[] = [];
    const slice = new TimeSlice();
    for (const [index, item] of clients.entries()) {
      if (slice.isOver) await slice.next();
      const result = await inspectInSlices(NewClient, item);
      if ('issues' in result) {
        const issues = issuesAt(`${PATH}.${index}`, result);
        throw kernelErrors.INVALID(sentenceOf(issues), { issues });
      }
      await findUnknownKeys(NewClient, item, ignored, `${PATH}[]`);
      sent.push({ index, client: result.value });
    }
    return sent;
  }

  /** Finds the clients that exist: by email, and in this inbound also by subId or UUID, under which an email was changed. */
  async #recognize(sent: readonly Sent[], inboundId: number): Promise<void> {
    const { roster } = this.#store;
    const isHere = (row: ClientRow): boolean => row.inboundIds.includes(inboundId);
    const keys = new Set<string>();
    const listed = new Set<number>();
    const slice = new TimeSlice();
    for (const entry of sent) {
      if (slice.isOver) await slice.next();
      const { email, subId } = entry.client;
      const key = emailKey(email);
      if (keys.has(key)) throw at(entry, errors.EMAIL_TAKEN('the list has this email twice'));
      keys.add(key);
      const row = roster.byEmail(email);
      if (!row) continue;
      if (!isHere(row) && subId !== row.subId)
        throw at(
          entry,
          errors.EMAIL_TAKEN(
            'this email belongs to a client with another subId; send that subId to attach it, or another email',
          ),
        );
      entry.row = row;
      listed.add(row.id);
    }
    for (const entry of sent) {
      if (entry.row) continue;
      if (slice.isOver) await slice.next();
      const { subId, uuid, id } = entry.client;
      const row =
        (subId ? roster.owner('subId', subId) : undefined) ??
        (uuid || id ? roster.owner('uuid', uuid || id || '') : undefined);
      if (!row || !isHere(row) || listed.has(row.id)) continue;
      entry.row = row;
      listed.add(row.id);
    }
  }

  async #editsOf(
    known: readonly (Sent & { row: ClientRow })[],
    inboundId: number,
    who: Principal,
  ): Promise<ClientEdit[]> {
    const patches = await this.#service.prepare(
      known.map(({ client }) => client),
      known.map(({ row }) => ({ before: { ...row }, inboundIds: row.inboundIds })),
      who,
    );
    const edits: ClientEdit[] = [];
    const slice = new TimeSlice();
    for (const [i, entry] of known.entries()) {
      if (slice.isOver) await slice.next();
      const { row, client } = entry;
      try {
        const isNew = !row.inboundIds.includes(inboundId);
        const patch = patches[i] ?? client;
        const own = row.credentials?.get(inboundId) ?? {};
        const fields = this.#service.fieldsOf(
          row,
          isNew ? withoutCredentials(patch) : without(patch, own),
          '',
        );
        // What is of this inbound only goes there, and not to the fields of the client.
        const credentials = credentialsFor(
          inboundId,
          isNew ? patch : pick(patch, [...flatFields, ...Object.keys(own)]),
        );
        edits.push({
          row,
          fields,
          chosen: chosenSwitch(row, patch),
          ...(isNew && { attach: [inboundId] }),
          ...((credentials.byInbound.get(inboundId) ?? isNew) && { credentials }),
        });
      } catch (error) {
        throw error instanceof PanelError ? at(entry, error) : error;
      }
    }
    return edits;
  }

  /** The new clients. The inbound may not exist yet, so it is named after their check. */
  async #added(fresh: readonly Sent[], inboundId: number, who: Principal) {
    const { refused, indexes, request } = await this.#service.planNew(
      // In an echo of another panel `credentials` names inbounds of that one; what is of this inbound stands beside it.
      fresh.map(({ client: { credentials: _, ...client } }) => ({ client, inboundIds: [] })),
      who,
      { fromElsewhere: true },
    );
    const [first] = refused;
    if (first) throw at(fresh[first.index] as Sent, first.error);
    const inboundIds = this.#store.roster.lists.of([inboundId]);
    for (const row of request.added) row.inboundIds = inboundIds;
    return { request, indexes };
  }
}

const pick = (patch: ClientPatch, names: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(patch).filter(([name]) => names.includes(name)));
/** Without what the client has in this inbound in another form, such as a password of its own. */
const without = (patch: ClientPatch, own: object): ClientPatch =>
  Object.fromEntries(Object.entries(patch).filter(([name]) => !(name in own)));

/** Whether another UUID was sent for a client that is known from other inbounds: it has one for all of them. */
function hasOtherUuid(row: ClientRow, { uuid, id }: NewClient, inboundId: number): boolean {
  return !row.inboundIds.includes(inboundId) && (uuid || id || row.uuid).toLowerCase() !== row.uuid;
}
/** With others, the client could no longer use the inbounds that it has. */
const withoutCredentials = (patch: ClientPatch): ClientPatch => {
  const { id: _, ...rest } = patch;
  for (const name of uniqueFields) delete rest[name];
  return rest;
};

function noteOf(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).flatMap(([did, count]) => (count > 0 ? [`${count} ${did}`] : []));
  return parts.length > 0 ? `; clients: ${parts.join(', ')}` : '';
}
