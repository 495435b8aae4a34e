// The calls of the own pages: those of a reseller, or those of an admin of groups. Both give clients of the same form.
import type {
  ResellerClientReply,
  ResellerClientsInput,
  ResellerClientsReply,
} from '../../../../sdk/index.js';
import type { OwnKind } from '../api/may.js';
import { weir } from '../api/panel.js';

interface Options {
  readonly signal: AbortSignal;
}
type Query = NonNullable<ResellerClientsInput['query']>;
/** `group` is for admins of groups, who see no others. */
export type OwnClient = ResellerClientReply & { readonly group?: string };
export interface SentClient {
  readonly email: string;
  readonly comment: string;
  readonly expiryTime: number;
  /** bytes; of a client that is there only where somebody has typed it */
  readonly totalGB?: number;
  readonly inboundIds: readonly number[];
  /** blank for a reseller */
  readonly group: string;
}
export interface OwnCalls {
  clients(query: Query, options: Options): Promise<ResellerClientsReply>;
  client(id: number, options: Options): Promise<OwnClient>;
  /** Resolves with the id of the new client. */
  add(sent: SentClient & { readonly flow: '' | 'xtls-rprx-vision' }): Promise<number>;
  update(id: number, sent: SentClient): Promise<unknown>;
  turn(id: number, enable: boolean): Promise<unknown>;
  reset(id: number): Promise<unknown>;
  renew(id: number, days: number): Promise<unknown>;
  remove(id: number): Promise<unknown>;
}

const ofReseller: OwnCalls = {
  clients: (query, options) => weir.reseller.clients({ query }, options),
  client: (id, options) => weir.reseller.client({ id }, options),
  add: async ({ group: _group, inboundIds, ...sent }) =>
    (await weir.reseller.addClient({ body: { ...sent, inboundIds: [...inboundIds] } })).id,
  update: (id, { group: _group, inboundIds, ...sent }) =>
    weir.reseller.updateClient({ id, body: { ...sent, inboundIds: [...inboundIds] } }),
  turn: (id, enable) => weir.reseller.updateClient({ id, body: { enable } }),
  reset: (id) => weir.reseller.resetClient({ id }),
  renew: (id, days) => weir.reseller.renewClient({ id, body: { days } }),
  remove: (id) => weir.reseller.deleteClient({ id }),
};
const ofGroups: OwnCalls = {
  clients: (query, options) => weir.groupRoles.clients({ query }, options),
  client: (id, options) => weir.groupRoles.client({ id }, options),
  add: async ({ inboundIds, ...sent }) =>
    (await weir.groupRoles.addClient({ body: { ...sent, inboundIds: [...inboundIds] } })).id,
  // Its inbounds stay as they are.
  update: (id, { inboundIds: _inboundIds, ...sent }) => weir.groupRoles.updateClient({ id, body: sent }),
  turn: (id, enable) => weir.groupRoles.updateClient({ id, body: { enable } }),
  reset: (id) => weir.groupRoles.resetClient({ id }),
  renew: (id, days) => weir.groupRoles.renewClient({ id, body: { days } }),
  remove: (id) => weir.groupRoles.deleteClient({ id }),
};

export const ownCalls = (kind: OwnKind | undefined): OwnCalls => (kind === 'groups' ? ofGroups : ofReseller);
