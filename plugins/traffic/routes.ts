import { int, list, mapOf, payload, route, type Route, text } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { OnlineClients } from './online.js';

export const routes = ({ online, clients }: { online: OnlineClients; clients: ClientsApi }): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/onlines',
    name: 'clients.online',
    doc: 'Emails of the clients that are online now: enabled, and some bytes of theirs moved within the last 20 seconds.',
    reply: payload(list(text())),
    handle: () => online.online().flatMap((id) => clients.byId(id)?.email ?? []),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/lastOnline',
    name: 'clients.lastOnline',
    doc: 'When each client last moved bytes, by email, in Unix seconds; 0 for one that never did.',
    reply: payload(mapOf(int().min(0))),
    handle: () =>
      Object.fromEntries(
        [...clients.all()].map(({ email, lastOnline }) => [email, Math.floor(lastOnline / 1000)]),
      ),
  }),
];
