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
import { addValid } from './add-each.js';
import type { BulkOperations } from '../edits/bulk-operations.js';
import { emailKey } from '../model/fields.js';
import type { UsageEdits } from '../usage/usage-edits.js';
import { ImportedClient } from '../model/schema.js';
import type { ClientService } from '../edits/client-service.js';
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

const bytes = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value)
    ? value.filter((entry): entry is Record<string, unknown> => typeof entry === 'object' && entry !== null)
    : [];
const emailOf = ({ email }: Record<string, unknown>): string => (typeof email === 'string' ? email : '');

async function importInbound(
  { db, inbounds, inboundEdits, store, service, bulk, usage }: Needs,
  data: Record<string, unknown>,
  who: Principal,
): Promise<string> {
  const { settings: sent = {}, clientStats, up, down, depletedCause, ...rest } = data;
  const { clients: listed, ...settings } = validate(jsonObject(), sent) as Record<string, unknown>;
  const clients = records(listed);
  const taken = inbounds.list().some(({ tag }) => tag === rest['tag']);
  const inbound = {
    ...rest,
    settings,
    ...(taken && { tag: '' }),
    ...(depletedCause ? { enable: true } : {}),
  };
  const { id, applied, kept } = await inboundEdits.add(
    inbound as unknown as Parameters<InboundEditsApi['add']>[0],
    who,
    // Programs with a token may not set local destinations.
    { keepDestinations: who.kind === 'session' },
  );
  await db.write((tx) => inbounds.addUsage(tx, [{ inboundId: id, up: bytes(up), down: bytes(down) }]));

  // Clients outlive their inbound: those that exist are attached and keep their fields and counters.
  const [there, fresh] = [
    clients.filter((client) => store.byEmail(emailOf(client))),
    clients.filter((client) => !store.byEmail(emailOf(client))),
  ];
  const attached = await bulk.attach(there.map(emailOf), [id], who);
  const made = await addValid(
    service,
    fresh.map((client) => ({ client, inboundIds: [id] })),
    who,
    ImportedClient,
  );
  const isFresh = new Set(fresh.map((client) => emailKey(emailOf(client))));
  const used = records(clientStats).filter((stat) => isFresh.has(emailKey(emailOf(stat))));
  const counted = await usage.setTraffics(
    used.map((stat) => ({ email: emailOf(stat), up: bytes(stat['up']), down: bytes(stat['down']) })),
    who,
  );
  const pending = [applied, attached.applied, made.applied, counted].find((step) => step.pending) ?? applied;
  const [first] = made.skipped;
  const skipped = first
    ? `; ${made.skipped.length} clients were skipped, the first of them ${first.email || `number ${first.index + 1}`}: ${first.reason}`
    : '';
  const leads =
    kept.length > 0
      ? `; it keeps its local destinations ${kept.join(', ')}, which WEIR_FALLBACK_DESTINATIONS does not name`
      : '';
  return describeResult(
    `inbound imported with ${made.created + attached.attached.length} clients${skipped}${leads}`,
    pending,
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
