// Adds and updates clients as callers ask: checks what was sent and plans the write.
import {
  type Clock,
  type Database,
  type Hooks,
  PanelError,
  type Principal,
  TimeSlice,
} from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { prepareClientSave, type SentParts } from '../contract.js';
import { type SentCredentials, sentCredentials } from '../credentials/sent.js';
import { errors } from '../errors.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { type ClientFields, emailKey, refuseHiddenIn } from '../model/fields.js';
import { decideEnabled, depletionOf } from '../model/depletion.js';
import { changedFields, chosenSwitch } from '../model/field-changes.js';
import { newClient } from '../model/new-client.js';
import { type ClientRow, rowOf } from '../model/row.js';
import type { AddClient, ClientPatch } from '../model/schema.js';
import { retainedTotals } from '../usage/retained-usage.js';
import type { ClientWriter } from './client-writer.js';
import type { Changes, Usage } from './write-request.js';
import { newBatch, refuseTaken, type TakenInBatch } from './uniqueness.js';

export interface SkippedClient {
  readonly email: string;
  readonly reason: string;
  readonly code: string;
}

/** Of a list that was sent; `index` counts from 0. */
export interface SkippedItem extends SkippedClient {
  readonly index: number;
}

/** What became of a list of new clients. */
export interface Created {
  readonly created: number;
  readonly skipped: SkippedItem[];
  readonly applied: Applied;
}

export interface NewClientOptions {
  /** what they used elsewhere, by the key of their email */
  readonly usage?: ReadonlyMap<string, Partial<Usage> & { readonly resetCount?: number }>;
  /** Called inside the write with what the caller will be answered. */
  readonly note?: ((facts: Created) => void) | undefined;
  /** of another panel: a disabled client at its limit is at its limit, and not disabled by an admin */
  readonly fromElsewhere?: boolean;
  /** subIds of the clients that the same import has added: others of it may share them */
  readonly sharable?: Set<string>;
  /** values that earlier clients of the same call take, where these are only checked */
  readonly batch?: TakenInBatch;
  /** stands before the names of fields in errors; `client.` if it is not given */
  readonly fieldPrefix?: string;
  /** checks only: nothing is written, and `created` says how many would be */
  readonly rehearse?: boolean;
}

/** A client that cannot be added, with its place in the list. */
export interface Refused {
  readonly index: number;
  readonly email: string;
  readonly error: PanelError;
}

interface Accepted {
  readonly index: number;
  readonly fields: ClientFields;
  readonly inboundIds: readonly number[];
  readonly sent: SentCredentials | undefined;
  readonly parts: SentParts | undefined;
  readonly isForeign: boolean;
  readonly isSharing: boolean;
}

export const skippedItem = ({ index, email, error: { message, code } }: Refused): SkippedItem => ({
  index,
  email,
  reason: message,
  code,
});
const NEW_ROW = { id: 0, credentials: null, up: 0, down: 0, lastOnline: 0, lastSubFetch: 0 };

/** Fields that differ from what was sent; another spelling of an email does not count. */
const changedBy = (sent: ClientPatch, next: ClientPatch): ClientPatch =>
  Object.fromEntries(
    Object.entries(next).filter(([field, value]) => {
      const previous = sent[field as keyof ClientPatch];
      return field === 'email' ? emailKey(String(value)) !== emailKey(String(previous)) : value !== previous;
    }),
  );

export class ClientService {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #writer: ClientWriter;
  readonly #parts: PartsOfClients;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    clock: Clock;
    store: ClientStore;
    inbounds: InboundsApi;
    writer: ClientWriter;
    parts: PartsOfClients;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#store = needs.store;
    this.#inbounds = needs.inbounds;
    this.#writer = needs.writer;
    this.#parts = needs.parts;
  }

  find(email: string): ClientRow {
    const row = this.#store.byEmail(email);
    if (!row) throw errors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
    return row;
  }

  async add(sent: AddClient, who: Principal, note?: (applied: Applied) => void): Promise<Applied> {
    this.#inbounds.requireForClients(sent.inboundIds, 'inboundIds');
    const added = ({ created, applied }: Created): void => void (created > 0 && note?.(applied));
    const { refused, applied } = await this.#create([sent], who, { note: added });
    if (refused[0]) throw refused[0].error;
    return applied;
  }

  /** Adds what can be added, and lists the rest with the reasons. */
  async addMany(items: readonly AddClient[], who: Principal, options?: NewClientOptions): Promise<Created> {
    const { refused, created, applied } = await this.#create(items, who, options);
    return { created, applied, skipped: refused.map(skippedItem) };
  }

  async #create(sent: readonly AddClient[], who: Principal, options: NewClientOptions = {}) {
    const { refused, indexes, request } = await this.planNew(sent, who, options);
    if (request.added.length === 0 || options.rehearse)
      return { refused, created: request.added.length, applied: DONE };
    const committing = ({ added, refused: late }: Changes): void => {
      for (const { row, error } of late)
        refused.push({ index: indexes.get(row) ?? 0, email: row.email, error });
      options.note?.({ created: added.length, skipped: refused.map(skippedItem), applied: DONE });
    };
    const written = await this.#writer.write({ ...request, committing }, who);
    return { refused, created: written.added.length, applied: written.applied };
  }

  /** Checks new clients: the write of those that can be added, their places in the list, and those that are refused. */
  async planNew(
    sent: readonly AddClient[],
    who: Principal,
    { usage = new Map(), fromElsewhere = false, fieldPrefix = 'client.', ...rules }: NewClientOptions = {},
  ) {
    const now = this.#clock.now();
    const items = await this.#prepareItems(sent, who);
    const { accepted, refused } = await this.#check(items, now, fieldPrefix, rules);
    // With retained usage, a new client may be at its quota already.
    const retained = await retainedTotals(
      this.#db,
      accepted.map(({ fields }) => fields.email),
    );
    const added: ClientRow[] = [];
    const credentials = new Map<ClientRow, SentCredentials>();
    const parts = new Map<ClientRow, SentParts>();
    const indexes = new Map<ClientRow, number>();
    const sharing = new Set<ClientRow>();
    const slice = new TimeSlice();
    for (const { index, fields, inboundIds, isForeign, isSharing, sent: own, parts: sentParts } of accepted) {
      if (slice.isOver) await slice.next();
      const key = emailKey(fields.email);
      const row = rowOf(Object.assign(fields, NEW_ROW, { inboundIds }));
      Object.assign(row, retained.get(key), usage.get(key));
      // Another panel disables a client at its limit by the same switch as an admin does.
      const wasDepleted = fromElsewhere && isForeign && depletionOf(row, now) !== undefined;
      if (wasDepleted) row.enable = true;
      Object.assign(row, decideEnabled(row, now));
      added.push(row);
      indexes.set(row, index);
      if (isSharing) sharing.add(row);
      if (own) credentials.set(row, own);
      if (sentParts) parts.set(row, sentParts);
    }
    if (slice.isOver) await slice.next();
    const request = { added, parts, sharing, credentials, usage, restoreUsage: true, fieldPrefix };
    return { refused, indexes, request };
  }

  async #check(
    items: readonly AddClient[],
    now: number,
    prefix: string,
    { sharable, batch = newBatch() }: Pick<NewClientOptions, 'sharable' | 'batch'>,
  ) {
    const { roster } = this.#store;
    const refused: Refused[] = [];
    const accepted: Accepted[] = [];
    const slice = new TimeSlice();
    for (const [index, { client, inboundIds, ...others }] of items.entries()) {
      if (slice.isOver) await slice.next();
      const fields = newClient(client, now);
      try {
        this.#inbounds.requireForClients(inboundIds, 'inboundIds');
        refuseHiddenIn(fields, prefix);
        const parts = this.#parts.check(others);
        const sent = sentCredentials(client, prefix);
        refuseTaken(roster, fields, prefix, { batch, sharable });
        const isSharing = sharable?.has(fields.subId) === true;
        sharable?.add(fields.subId);
        accepted.push({
          index,
          fields,
          inboundIds: roster.lists.of(inboundIds),
          sent,
          parts,
          isSharing,
          // Only our exports say which limit disabled a client.
          isForeign: client.depletedCause === undefined,
        });
      } catch (error) {
        refused.push({ index, email: client.email, error: error as PanelError });
      }
    }
    return { accepted, refused };
  }

  async update(email: string, sent: ClientPatch, who: Principal): Promise<Applied> {
    const row = this.find(email);
    const { inboundIds } = row;
    const [patch = sent] = await this.prepare([sent], [{ before: { ...row }, inboundIds }], who);
    const fields = this.fieldsOf(row, patch, '');
    const credentials = sentCredentials(patch, '');
    if (Object.keys(fields).length === 0 && !credentials) return DONE;
    const missingError = () =>
      errors.NOT_FOUND(`the client ${email} was deleted meanwhile`, { path: 'email' });
    const { applied } = await this.#writer.write(
      // A credential alone changes the client as well.
      {
        edits: [
          {
            row,
            fields: { updatedAt: this.#clock.now(), ...fields },
            chosen: chosenSwitch(row, patch),
            credentials,
          },
        ],
        missingError,
      },
      who,
    );
    return applied;
  }

  /** The fields that an update changes; none if it changes nothing. `fieldPrefix` stands before their names in errors. */
  fieldsOf(row: ClientRow, patch: ClientPatch, fieldPrefix: string): Partial<ClientFields> {
    // Programs send back all fields of a reply: if a limit disabled the client, an unchanged `enable` is not an admin's choice.
    const { enable, ...rest } = patch;
    const isEcho = row.depletedCause !== null && enable === row.enable;
    const fields = changedFields(row, isEcho ? rest : patch, this.#clock.now());
    refuseHiddenIn(fields, fieldPrefix);
    refuseTaken(this.#store.roster, fields, fieldPrefix, { self: row.id });
    return fields;
  }

  /** Lets plugins change the fields that were sent. A result that breaks a rule is ignored, so that the plugin is blamed and not the caller. */
  prepare(
    sent: readonly ClientPatch[],
    targets: readonly { readonly before: ClientRow | undefined; readonly inboundIds: readonly number[] }[],
    who: Principal,
  ): Promise<readonly ClientPatch[]> {
    return this.#hooks.prepare(prepareClientSave, sent, { targets, who }, (patch, i) => {
      const before = targets[i]?.before;
      if (!before && patch.email === undefined) return 'a new client needs an email';
      // Only what the plugin changed: the caller's own values are checked later.
      const own = changedBy(sent[i] ?? {}, patch) as Partial<ClientFields>;
      try {
        refuseHiddenIn(own, '');
        refuseTaken(this.#store.roster, own, '', { self: before?.id });
      } catch (error) {
        if (error instanceof PanelError) return error.message;
        throw error;
      }
      return undefined;
    });
  }

  async #prepareItems(items: readonly AddClient[], who: Principal): Promise<readonly AddClient[]> {
    if (!this.#hooks.isUsed(prepareClientSave)) return items;
    const clients = await this.prepare(
      items.map(({ client }) => client),
      items.map(({ inboundIds }) => ({ before: undefined, inboundIds })),
      who,
    );
    return items.map((item, i) => ({ ...item, client: clients[i] as AddClient['client'] }));
  }
}
