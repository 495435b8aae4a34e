// Central panels of the older kind, which manage this one as a node.
import type { RequestInfo } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { HASH_HEADER } from './body-hashes.js';

/** A Weir panel says its name, and needs nothing of this. */
const OURS = 'weir';

/** Has what only such a panel has: the principal of nodes, or the hash of its body. */
export const isCentral = ({ who, headers }: Pick<RequestInfo, 'who' | 'headers'>): boolean =>
  headers['user-agent'] !== OURS && (who.kind === 'node' || headers[HASH_HEADER] !== undefined);

/** Such a panel, or another Go program with an API token: it gets more in replies, and nothing else. */
export const mayBeCentral = (caller: Pick<RequestInfo, 'who' | 'headers'>): boolean =>
  isCentral(caller) ||
  (caller.who.kind === 'token' && (caller.headers['user-agent'] ?? '').startsWith('Go-http-client/'));

/** Its update of a client is the whole client: what it leaves out has its initial value there. */
export const WHOLE_CLIENT = {
  reset: 0,
  resetDay: 0,
  resetMax: 0,
  trafficReset: 'never',
  totalGB: 0,
  expiryTime: 0,
  limitIp: 0,
  tgId: 0,
  flow: '',
  comment: '',
  group: '',
} as const;

/**
 * Clients here that are attached to nothing and that stand in the way of another client of the same email: such
 * a panel leaves them behind when it takes clients off an inbound, and makes new ones under the same email.
 */
export function leftBehind(
  sent: readonly unknown[],
  clients: ClientsApi,
): { readonly email: string; readonly instead: unknown }[] {
  return sent.flatMap((instead) => {
    const { email, subId } = record(instead);
    const row = typeof email === 'string' ? clients.byEmail(email) : undefined;
    const isInTheWay = row && row.inboundIds.length === 0 && row.subId !== subId;
    return isInTheWay ? [{ email: row.email, instead }] : [];
  });
}

/** What `clients/add` of a central is about where it has the client already: on another inbound here. */
export interface AddedAgain {
  readonly email: string;
  readonly client: unknown;
  readonly lacking: readonly number[];
}
const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** The client that exists with the same email and the same `subId`; undefined for another one, or a new one. */
export function addedAgain(body: unknown, clients: ClientsApi): AddedAgain | undefined {
  const { client, inboundIds } = record(body);
  const { email, subId } = record(client);
  const row = typeof email === 'string' ? clients.byEmail(email) : undefined;
  if (!row || typeof subId !== 'string' || subId === '' || row.subId !== subId) return undefined;
  const ids = Array.isArray(inboundIds) ? (inboundIds as number[]) : [];
  return { email: row.email, client, lacking: ids.filter((id) => !row.inboundIds.includes(id)) };
}
