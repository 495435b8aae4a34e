import { int, list, mapOf, payload, route, type Route, shape, text, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { errors } from './errors.js';
import { namesByGuid } from './names-by-guid.js';
import type { PresenceApi } from './contract.js';
import { MOST_DAYS_AHEAD, type Preview, PreviewReply } from './preview.js';

interface Needs {
  readonly presence: PresenceApi;
  readonly clients: ClientsApi;
  readonly inbounds: InboundsApi;
  readonly preview: Preview;
}

const onlineEmails = ({ presence, clients }: Needs): string[] =>
  presence.online().flatMap((id) => clients.byId(id)?.email ?? []);

async function lastOnline({ clients }: Needs): Promise<Record<string, number>> {
  // Without a prototype: an email may be called like one of its keys.
  const seconds = Object.create(null) as Record<string, number>;
  const slice = new TimeSlice();
  // A copy: clients come and go meanwhile.
  for (const { email, lastOnline: at } of [...clients.all()]) {
    if (slice.isOver) await slice.next();
    seconds[email] = Math.floor(at / 1000);
  }
  return seconds;
}

export const routes = (needs: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/onlines',
    name: 'clients.online',
    doc: 'Emails of the clients that are online now: enabled, and some bytes of theirs moved within the last 20 seconds.',
    reply: payload(list(text())),
    handle: () => onlineEmails(needs),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/onlinesByGuid',
    name: 'clients.onlineByGuid',
    doc: 'The emails of `onlines`, by the guid of the panel that serves the clients.',
    reply: payload(mapOf(list(text()))),
    handle: () => namesByGuid(needs.presence.onlineByGuid(), (id) => needs.clients.byId(id)?.email),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/activeInbounds',
    name: 'clients.activeInbounds',
    doc: 'Tags of the inbounds that moved bytes within the last 20 seconds, by the guid of the panel that runs them.',
    reply: payload(mapOf(list(text()))),
    handle: () => namesByGuid(needs.presence.activeInboundsByGuid(), (id) => needs.inbounds.get(id)?.tag),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/lastOnline',
    name: 'clients.lastOnline',
    doc: 'When each client last moved bytes, by email, in Unix seconds; 0 for one that never did.',
    reply: payload(mapOf(int().min(0))),
    handle: () => lastOnline(needs),
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/traffic/preview',
    name: 'traffic.preview',
    doc: `Which clients and inbounds are cut by their expiry, renewed and reset from now until a moment of the next ${MOST_DAYS_AHEAD} days: one entry for each of them and kind, with the first time and how often. Each list has the first 1,000 entries; counts are exact. Quotas and first uses depend on bytes and are not foreseen.`,
    query: shape({ until: int().min(0).required().description('Unix ms') }),
    reply: payload(PreviewReply),
    errors: [errors.UNTIL_OUT_OF_RANGE],
    handle: ({ query }) => needs.preview.until(query.until),
  }),
];
