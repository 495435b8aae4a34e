// Clients as replies and exports show them.
import { sendableCredentials, shownCredentials } from '../credentials/views.js';
import { copierOf } from './copier.js';
import { sentFields, shownFields, trafficFields } from './fields.js';
import type { ClientRow } from './row.js';
import type { ClientReply, ExportedClient, TrafficRecord } from './schema.js';
import { clientVersion } from './version.js';

const same = (name: string) => [name, name] as const;
const traffic = copierOf<ClientRow, TrafficRecord>([
  ['id', 'id'],
  ['inboundId'],
  ...trafficFields,
  ...['up', 'down', 'lastOnline', 'lastSubFetch'].map(same),
]);
const view = copierOf<ClientRow, ClientReply>([
  ...['id', ...shownFields].map(same),
  ['inboundIds', 'inboundIds'],
  ['traffic'],
  ['version'],
]);
const exported = [
  ['depletedCause', 'depletedCause'],
  ['created_at', 'createdAt'],
  ['updated_at', 'updatedAt'],
  ...(['createdAt', 'updatedAt'] as const).map(same),
] as const;
const exportView = copierOf<ClientRow, ExportedClient['client']>([
  ['id', 'uuid'],
  ...sentFields.map(same),
  ...exported,
]);
/** What every client inside `settings` of an inbound has. Others only where they say something: programs send back all of it. All are in the literal that makes the object: those that are added to it later cost a multiple. */
const ALWAYS = [
  'email',
  'password',
  'auth',
  'security',
  'flow',
  'enable',
  'subId',
  'totalGB',
  'expiryTime',
  'limitIp',
  'tgId',
  'comment',
  'reset',
  'trafficReset',
  'trafficResetDay',
] as const satisfies readonly (typeof sentFields)[number][];
const SOMETIMES = sentFields.filter((name) => name !== 'uuid' && !ALWAYS.some((other) => other === name));
const wire = copierOf<ClientRow, Record<string, unknown>>([
  ['id', 'uuid'],
  ...ALWAYS.map(same),
  ['created_at', 'createdAt'],
  ['updated_at', 'updatedAt'],
]);

/** A client inside `settings` of an inbound, as existing programs read it: `id` is the UUID. */
export function wireClient(row: ClientRow, inboundId: number): Record<string, unknown> {
  const shown = wire(row);
  for (const name of SOMETIMES) if (row[name]) shown[name] = row[name];
  if (!row.enable) shown['depletedCause'] = row.depletedCause;
  return Object.assign(shown, row.credentials?.get(inboundId));
}

export function trafficOf(row: ClientRow, inboundId = row.inboundIds[0] ?? 0): TrafficRecord {
  const record = traffic(row);
  record.inboundId = inboundId;
  return record;
}

export function clientView(row: ClientRow): ClientReply {
  const shown = view(row);
  shown.inboundIds = [...row.inboundIds];
  shown.traffic = trafficOf(row);
  shown.version = clientVersion.of(row);
  return row.credentials ? Object.assign(shown, shownCredentials(row.credentials)) : shown;
}

/** A client with its secrets and what it used, as an import takes it. `id` is the UUID. Times have two names: those of lists, and those that an import reads. */
export function exportOf(row: ClientRow): ExportedClient {
  const client = exportView(row);
  const { up, down } = row;
  // An import finds the limit again. As a plain `enable: false` it would be an admin's choice, and a higher limit would not enable the client.
  if (row.depletedCause !== null) client.enable = true;
  if (row.credentials) Object.assign(client, sendableCredentials(row.credentials));
  return { client, inboundIds: [...row.inboundIds], ...(up + down > 0 && { traffic: { up, down } }) };
}
