import { int, list, mapOf, payload, route, type Route, shape, text } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { errors } from './errors.js';
import type { OnlineClients } from './online.js';
import { MOST_DAYS_AHEAD, type Preview, PreviewReply } from './preview.js';

export const routes = ({
  online,
  clients,
  preview,
}: {
  online: OnlineClients;
  clients: ClientsApi;
  preview: Preview;
}): Route[] => [
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
  route({
    method: 'GET',
    path: '/panel/api/x/traffic/preview',
    name: 'traffic.preview',
    doc: `Which clients and inbounds are cut by their expiry, renewed and reset from now until a moment of the next ${MOST_DAYS_AHEAD} days: one entry for each of them and kind, with the first time and how often. Each list has the first 1,000 entries; counts are exact. Quotas and first uses depend on bytes and are not foreseen.`,
    query: shape({ until: int().min(0).required().description('Unix ms') }),
    reply: payload(PreviewReply),
    errors: [errors.UNTIL_OUT_OF_RANGE],
    handle: ({ query }) => preview.until(query.until),
  }),
];
