// Routes of addresses. Times on the wire are Unix seconds, as programs in the field read them.
import Joi from 'joi';
import {
  canonicalAddress,
  custom,
  describedAs,
  inspect,
  int,
  LARGE_BODY,
  list,
  mapOf,
  message,
  nullable,
  optional,
  payload,
  route,
  type Route,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { History } from './history.js';
import type { Observer } from './observer.js';
import type { AddressReports, SeenBy } from './reports.js';
import { ELSEWHERE } from './sightings.js';
import type { AddressViews } from './views.js';

const MOST_CLIENTS = 10_000;
const MOST_ADDRESSES = 1000;
/** Characters of that many addresses as JSON text. */
const MOST_TEXT = 100 * MOST_ADDRESSES;

const address = () =>
  describedAs(word().max(64), { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }).custom(
    (value: string, state) =>
      canonicalAddress(value) ?? state.error('any.custom', { error: new Error('it is not an IP address') }),
  );
const addresses = nullable(
  list(
    shape({
      ip: address(),
      timestamp: int().min(0).description('Unix s; a time in the future counts as now'),
    }),
  ).max(MOST_ADDRESSES),
);
type Addresses = Static<typeof addresses>;
/** joi would look at each item before it counts them. */
const tooMany = Joi.array().max(MOST_ADDRESSES);

/** Existing programs also send the list as JSON text. */
const addressesOrText = () =>
  custom<Addresses>(
    describedAs(
      Joi.alternatives().conditional(Joi.string().allow(''), {
        // biome-ignore lint/suspicious/noThenProperty: a word of joi
        then: Joi.string()
          .allow('')
          .max(MOST_TEXT)
          .custom((value: string, state) => {
            const list = parsed(value);
            const result = inspect(
              Array.isArray(list) && list.length > MOST_ADDRESSES ? tooMany : addresses,
              list,
              {
                first: true,
              },
            );
            return 'value' in result
              ? result.value
              : state.error('any.custom', { error: new Error(result.issues[0]?.message) });
          }),
        otherwise: Joi.alternatives().conditional(Joi.array().min(MOST_ADDRESSES + 1), {
          // biome-ignore lint/suspicious/noThenProperty: a word of joi
          then: tooMany,
          otherwise: addresses,
        }),
      }),
      addresses,
    ),
  );
function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Sent = list(
  shape({
    clientEmail: text().max(255),
    ips: addressesOrText(),
    panelGuid: optional(
      word()
        .max(64)
        .pattern(/^[\w-]+$/, 'letters, digits, - and _'),
    ).description('guid of the panel that saw them'),
  }),
)
  .max(MOST_CLIENTS)
  .example([{ clientEmail: 'ada@example.org', ips: [{ ip: '192.0.2.7', timestamp: 1_790_000_000 }] }]);
const SeenAt = shape({ ip: text(), timestamp: int().min(0).description('Unix s') });
const Email = shape({ email: word().example('ada@example.org') });

interface Needs {
  readonly clients: ClientsApi;
  readonly history: History;
  readonly observer: Observer;
  readonly reports: AddressReports;
  readonly views: AddressViews;
}

/** Lists what was sent, of clients that exist. */
function* seenIn(body: Static<typeof Sent>, clients: ClientsApi): Generator<SeenBy> {
  for (const { clientEmail, ips, panelGuid: guid = ELSEWHERE } of body) {
    const clientId = clientEmail === '' ? undefined : clients.byEmail(clientEmail)?.id;
    if (clientId === undefined) continue;
    for (const { ip: address, timestamp } of ips ?? [])
      yield { guid, clientId, address, at: timestamp * 1000 };
  }
}

export const routes = ({ clients, history, observer, reports, views }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/ips/{email}',
    name: 'addresses.ofClient',
    doc: 'From where a client connected, latest first. Of an IPv6 /64 only the latest address is listed. Empty for an unknown client.',
    params: Email,
    reply: payload(
      list(
        shape({
          ip: text(),
          time: text().description('of the last connection: YYYY-MM-DD HH:mm:ss in the zone of timeLocation'),
          node: text().description(
            `guid of the panel that saw it, ${ELSEWHERE} if it is unknown; blank for this one`,
          ),
          firstSeen: int().min(0).description('Unix s'),
          lastSeen: int().min(0).description('Unix s'),
        }),
      ),
    ),
    handle: async ({ params: { email } }) => {
      await observer.catchUp();
      const client = clients.byEmail(email);
      return client ? views.ofClient(await history.of(client.id)) : [];
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/clearIps/{email}',
    name: 'addresses.clear',
    doc: 'Forgets from where a client connected. Succeeds for an unknown client.',
    params: Email,
    reply: message(),
    handle: async ({ params: { email }, who }) => {
      const client = clients.byEmail(email);
      if (client) await history.clear(client, who);
      return 'addresses cleared';
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/clientIpsByGuid',
    name: 'addresses.byGuid',
    doc: 'From where clients connected within the last 30 minutes, by the guid of the panel that saw it, then by email.',
    reply: payload(mapOf(mapOf(list(SeenAt)))),
    handle: () => views.byGuid(),
  }),
  route({
    method: 'GET',
    path: '/panel/api/server/clientIps',
    name: 'addresses.list',
    doc: 'From where clients connected within the last 30 minutes, here or at any panel that reported it here. id is that of the client.',
    reply: payload(list(shape({ id: int(), clientEmail: text(), ips: nullable(list(SeenAt)) }))),
    handle: () => views.all(),
  }),
  route({
    method: 'POST',
    path: '/panel/api/server/clientIps',
    name: 'addresses.merge',
    doc: 'Takes in what other panels saw. Unknown clients, and connections older than 30 minutes, are skipped. The addresses count for limitIp like those seen here.',
    body: Sent,
    bodyLimit: LARGE_BODY,
    reply: message(),
    handle: async ({ body }) => {
      await reports.take(seenIn(body, clients));
      // What the panel sees by itself may be lost with it; this is acknowledged.
      await history.flush();
      return 'client addresses merged';
    },
  }),
];
