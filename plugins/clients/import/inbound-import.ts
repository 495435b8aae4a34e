// Imports an inbound in the format of inbounds/get, with its clients and all counters.
import {
  type Database,
  jsonObject,
  LARGE_BODY,
  message,
  openObject,
  type Principal,
  route,
  type Route,
  shape,
  validate,
} from '../../../kernel/index.js';
import { describeResult } from '../../engine/contract.js';
import { inboundErrors, type InboundEditsApi, type InboundsApi } from '../../inbounds/contract.js';
import { credentialsFor } from '../credentials/sent.js';
import { addValid } from '../edits/add-valid.js';
import type { BulkOperations } from '../edits/bulk-operations.js';
import { emailKey } from '../model/fields.js';
import type { UsageEdits } from '../usage/usage-edits.js';
import { ImportedClient } from '../model/schema.js';
import type { ClientService, SkippedItem } from '../edits/client-service.js';
import type { ClientStore } from '../model/client-store.js';

interface Needs {
  readonly db: Database;
  readonly inbounds: InboundsApi;
  readonly inboundEdits: InboundEditsApi;
  readonly store: ClientStore;
  readonly service: ClientService;
  readonly bulk: BulkOperations;
  readonly usage: UsageEdits;
}

type Entry = Record<string, unknown>;

const bytes = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
const records = (value: unknown): Entry[] =>
  Array.isArray(value)
    ? value.filter((entry): entry is Entry => typeof entry === 'object' && entry !== null)
    : [];
const emailOf = ({ email }: Entry): string => (typeof email === 'string' ? email : '');

/** Adds the inbound, with another tag if its own is taken, and what it carried. */
async function addInbound(
  { db, inbounds, inboundEdits }: Needs,
  { up, down, depletedCause, ...fields }: Entry,
  who: Principal,
) {
  const tagTaken = inbounds.list().some(({ tag }) => tag === fields['tag']);
  const inbound = { ...fields, ...(tagTaken && { tag: '' }), ...(depletedCause ? { enable: true } : {}) };
  const added = await inboundEdits.add(
    inbound as unknown as Parameters<InboundEditsApi['add']>[0],
    who,
    // Programs with a token may not set local destinations.
    { keepDestinations: who.kind === 'session' },
  );
  await db.write((tx) => inbounds.addUsage(tx, [{ inboundId: added.id, up: bytes(up), down: bytes(down) }]));
  return added;
}

/** Attaches clients that exist, which keep their fields and counters; adds the others with the usage in `stats`. */
async function addClients(
  { store, service, bulk, usage }: Needs,
  inboundId: number,
  { clients, stats }: { readonly clients: readonly Entry[]; readonly stats: readonly Entry[] },
  who: Principal,
) {
  const exists = (client: Entry): boolean => store.byEmail(emailOf(client)) !== undefined;
  const existing = clients.filter(exists);
  const created = clients.filter((client) => !exists(client));
  const createdKeys = new Set(created.map((client) => emailKey(emailOf(client))));
  // They keep their fields, and what is of this inbound only comes with them.
  const entries = new Map(existing.map((client) => [emailKey(emailOf(client)), client]));
  const attachResult = await bulk.attach(existing.map(emailOf), [inboundId], who, (email) =>
    credentialsFor(inboundId, entries.get(emailKey(email)) ?? {}),
  );
  const addResult = await addValid(
    service,
    created.map((client) => ({ client, inboundIds: [inboundId] })),
    who,
    ImportedClient,
  );
  const usageApplied = await usage.setTraffics(
    stats
      .filter((stat) => createdKeys.has(emailKey(emailOf(stat))))
      .map((stat) => ({ email: emailOf(stat), up: bytes(stat['up']), down: bytes(stat['down']) })),
    who,
  );
  return {
    count: addResult.created + attachResult.attached.length,
    skipped: addResult.skipped,
    applied: [attachResult.applied, addResult.applied, usageApplied],
  };
}

function skippedNote(skipped: readonly SkippedItem[]): string {
  const [first] = skipped;
  return first
    ? `; ${skipped.length} clients were skipped, the first of them ${first.email || `number ${first.index + 1}`}: ${first.reason}`
    : '';
}
const destinationsNote = (kept: readonly string[]): string =>
  kept.length > 0
    ? `; it keeps its local destinations ${kept.join(', ')}, which WEIR_FALLBACK_DESTINATIONS does not name`
    : '';

/** Five writes: the inbound, its bytes, attachments, new clients and their usage. If one fails, the previous ones stay. */
async function importInbound(needs: Needs, data: Entry, who: Principal): Promise<string> {
  const { settings: sent = {}, clientStats, ...fields } = data;
  const { clients, ...settings } = validate(jsonObject(), sent) as Entry;
  const { id, applied, kept } = await addInbound(needs, { ...fields, settings }, who);
  const added = await addClients(needs, id, { clients: records(clients), stats: records(clientStats) }, who);
  return describeResult(
    `inbound imported with ${added.count} clients${skippedNote(added.skipped)}${destinationsNote(kept)}`,
    [applied, ...added.applied].find(({ pending }) => pending) ?? applied,
  );
}

export const inboundImportRoutes = (needs: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/inbounds/import',
    name: 'inbounds.import',
    form: true,
    doc: 'Creates an inbound in the format of inbounds/get, with its clients and all counters. A tag that is taken is replaced. Clients that exist are attached and stay as they are.',
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
    idempotent: true,
    handle: ({ body, who }) => importInbound(needs, validate(openObject(), body.data), who),
  }),
];
