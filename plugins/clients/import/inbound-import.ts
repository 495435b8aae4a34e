// Imports an inbound in the format of inbounds/get, with its clients and all counters.
import {
  findUnknownKeys,
  inspectInSlices,
  jsonObject,
  kernelErrors,
  LARGE_BODY,
  message,
  once,
  openObject,
  type RequestInfo,
  type Principal,
  route,
  type Route,
  shape,
  TimeSlice,
  validate,
  sentenceOf,
} from '../../../kernel/index.js';
import { type Applied, describeResult, DONE } from '../../engine/contract.js';
import {
  type AddOptions,
  inboundErrors,
  type InboundEditsApi,
  type InboundsApi,
} from '../../inbounds/contract.js';
import { credentialsFor } from '../credentials/sent.js';
import type { ClientService, Refused, SkippedItem } from '../edits/client-service.js';
import type { ClientWriter } from '../edits/client-writer.js';
import { type Changes, NEW_INBOUND, NO_CHANGES } from '../edits/write-request.js';
import type { ClientEdit } from '../edits/edit.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey } from '../model/fields.js';
import { type AddClient, NewClient } from '../model/schema.js';
import { MOST_CLIENTS } from './sent-clients.js';

interface Needs {
  readonly inbounds: InboundsApi;
  readonly inboundEdits: InboundEditsApi;
  readonly store: ClientStore;
  readonly service: ClientService;
  readonly writer: ClientWriter;
}

type Entry = Record<string, unknown>;

const bytes = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
const records = (value: unknown): Entry[] =>
  Array.isArray(value)
    ? value.filter((entry): entry is Entry => typeof entry === 'object' && entry !== null)
    : [];
const emailOf = ({ email }: Entry): string => (typeof email === 'string' ? email : '');

/** The UUID is `uuid` in the panel's own format and `id` in that of others. */
function uuidOf({ uuid, id }: Entry, otherwise: string): string {
  const sent = [uuid, id].find((value) => typeof value === 'string' && value !== '');
  return typeof sent === 'string' ? sent.toLowerCase() : otherwise;
}

/** A counter of zero leaves what is retained for the email. */
const usageOf = (stat: Entry) => ({
  ...(bytes(stat['up']) + bytes(stat['down']) > 0 && { up: bytes(stat['up']), down: bytes(stat['down']) }),
  lastOnline: bytes(stat['lastOnline']),
  lastSubFetch: bytes(stat['lastSubFetch']),
  resetCount: bytes(stat['resetCount']),
});

/** The fields without the node of another panel: ids differ between panels, and its number may be another machine here. */
function placed(inbounds: InboundsApi, fields: Entry): { fields: Entry; foreign: string } {
  const { nodeId, originNodeGuid, tag } = fields;
  if (typeof nodeId !== 'number' || !Number.isSafeInteger(nodeId) || nodeId < 1)
    return { fields, foreign: '' };
  const node = inbounds.node(nodeId);
  const isSame = !node?.guid || !originNodeGuid || node.guid === originNodeGuid;
  if (node && isSame) return { fields, foreign: '' };
  const prefix = `n${nodeId}-`;
  const own = typeof tag === 'string' && tag.startsWith(prefix) ? tag.slice(prefix.length) : tag;
  return {
    fields: { ...fields, nodeId: null, tag: own },
    foreign: `; it runs on this machine, as its node ${nodeId} is not known here`,
  };
}

/** Adds the inbound, with another tag if its own is taken. */
function addInbound(
  { inbounds, inboundEdits }: Needs,
  { depletedCause, ...fields }: Entry,
  who: Principal,
  options: AddOptions,
) {
  const tagTaken = inbounds.list().some(({ tag }) => tag === fields['tag']);
  const inbound = { ...fields, ...(tagTaken && { tag: '' }), ...(depletedCause ? { enable: true } : {}) };
  return inboundEdits.add(
    inbound as unknown as Parameters<InboundEditsApi['add']>[0],
    who,
    // Programs with a token may not set local destinations.
    { ...options, keepDestinations: who.kind === 'session' },
  );
}

interface Carried {
  readonly clients: readonly Entry[];
  readonly stats: readonly Entry[];
}

/** Plans to attach clients that exist, which keep their fields and counters, and to add the others with the usage in `stats`. */
async function planClients(
  { store, service, writer }: Needs,
  { clients, stats }: Carried,
  who: Principal,
  ignored: Set<string>,
) {
  const existing = new Map<number, ClientEdit>();
  const fresh: AddClient[] = [];
  const places: number[] = [];
  const skipped: SkippedItem[] = [];
  let otherUuid = 0;
  const slice = new TimeSlice();
  for (const [index, client] of clients.entries()) {
    if (slice.isOver) await slice.next();
    await findUnknownKeys(NewClient, client, ignored, 'settings.clients[]');
    const row = store.byEmail(emailOf(client));
    const result = row ? undefined : await inspectInSlices(NewClient, client);
    // It keeps its fields; what is of this inbound only comes with it.
    if (row) {
      existing.set(row.id, {
        row,
        attach: [NEW_INBOUND],
        credentials: credentialsFor(NEW_INBOUND, client),
      });
      if (uuidOf(client, row.uuid) !== row.uuid) otherUuid += 1;
    } else if (result && 'value' in result) {
      const { credentials: _, ...own } = result.value;
      fresh.push({ client: own, inboundIds: [] });
      places.push(index);
    } else if (result)
      skipped.push({
        index,
        email: emailOf(client),
        reason: sentenceOf(result.issues) + result.more,
        code: kernelErrors.INVALID.code,
      });
  }
  const usage = new Map(stats.map((stat) => [emailKey(emailOf(stat)), usageOf(stat)]));
  const { refused, indexes, request } = await service.planNew(fresh, who, { usage, fromElsewhere: true });
  const inboundIds = store.roster.lists.of([NEW_INBOUND]);
  for (const row of request.added) row.inboundIds = inboundIds;
  const write = await writer.plan({ ...request, edits: [...existing.values()] }, who);
  const skippedItem = ({ index, email, error: { message: reason, code } }: Refused): SkippedItem => ({
    index: places[index] ?? index,
    email,
    reason,
    code,
  });
  return {
    write,
    existing: existing.size,
    otherUuid,
    skipped: [...skipped, ...refused.map(skippedItem)],
    /** new clients that cannot have the credentials of the inbound */
    refusedBy: (changes: Changes): SkippedItem[] =>
      changes.refused.map(({ row, error }) =>
        skippedItem({ index: indexes.get(row) ?? 0, email: row.email, error }),
      ),
  };
}

function skippedNote(skipped: readonly SkippedItem[]): string {
  const [first] = skipped;
  return first
    ? `; ${skipped.length} clients were skipped, the first of them ${first.email || `number ${first.index + 1}`}: ${first.reason}`
    : '';
}
const otherUuidNote = (count: number): string =>
  count > 0 ? `; ${count} of them keep the UUID that they have, not the one in the data` : '';
const destinationsNote = (kept: readonly string[]): string =>
  kept.length > 0
    ? `; it keeps its local destinations ${kept.join(', ')}, which WEIR_FALLBACK_DESTINATIONS does not name`
    : '';

interface Imported {
  readonly said: string;
  readonly applied: Applied;
}

/** One transaction: the inbound, its bytes, its clients and their usage. */
async function importInbound(
  needs: Needs,
  data: Entry,
  {
    who,
    ignored,
    note,
  }: Pick<RequestInfo, 'who' | 'ignored'> & { note?: ((facts: Imported) => void) | undefined },
): Promise<Imported> {
  const { settings: sent = {}, clientStats, ...ownFields } = data;
  const { fields, foreign } = placed(needs.inbounds, ownFields);
  const { clients, ...settings } = validate(jsonObject().empty(null).default({}), sent) as Entry;
  const carried = { clients: records(clients), stats: records(clientStats) };
  if (carried.clients.length > MOST_CLIENTS)
    throw kernelErrors.INVALID(
      `settings.clients holds more than ${MOST_CLIENTS} clients; add the rest with clients/import`,
      { path: 'data' },
    );
  const { write, existing, otherUuid, skipped, refusedBy } = await planClients(needs, carried, who, ignored);
  let written = NO_CHANGES;
  const also: AddOptions['also'] = async (tx, inbound) => {
    const usage = { inboundId: inbound.id, up: bytes(fields['up']), down: bytes(fields['down']) };
    await needs.inbounds.addUsage(tx, [usage]);
    written = await write.run(tx, inbound);
  };
  const said = (kept: readonly string[]): string => {
    const count = existing + written.added.length;
    const left = [...skipped, ...refusedBy(written)];
    return `inbound imported with ${count} clients${otherUuidNote(otherUuid)}${foreign}${skippedNote(left)}${destinationsNote(kept)}`;
  };
  const { applied, kept } = await addInbound(needs, { ...fields, settings }, who, {
    also,
    ignored,
    committing: (added) => note?.({ said: said(added.kept), applied: DONE }),
  });
  const clientsApplied = await write.apply(written);
  return { said: said(kept), applied: applied.pending ? applied : clientsApplied };
}

export const inboundImportRoutes = (needs: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/inbounds/import',
    name: 'inbounds.import',
    form: true,
    doc: 'Creates an inbound in the format of inbounds/get, with its clients and all counters. A tag that is taken is replaced; at most 20,000 clients. Clients that exist are attached and stay as they are.',
    body: shape({ data: jsonObject().required() }).example({
      data: {
        protocol: 'vless',
        listen: '127.0.0.1',
        port: 24_431,
        settings: { clients: [{ email: 'edith@example.org' }] },
        up: 1_048_576,
        down: 10_485_760,
      },
    }),
    bodyLimit: LARGE_BODY,
    reply: message(),
    errors: [
      inboundErrors.PORT_TAKEN,
      inboundErrors.PORT_IN_USE,
      inboundErrors.UNKNOWN_PROTOCOL,
      inboundErrors.CORE_REFUSED,
    ],
    handle: async (input) => {
      const { said, applied } = await once(input, (note) =>
        importInbound(needs, validate(openObject(), input.body.data), {
          who: input.who,
          ignored: input.ignored,
          note,
        }),
      );
      return describeResult(said, applied);
    },
  }),
];
