// What a central reads before it adopts inbounds and clients of this panel, and what it gives back.
import {
  bool,
  int,
  list,
  openObject,
  payload,
  type Route,
  route,
  shape,
  text,
  withDefault,
} from '../../kernel/index.js';
import type { Offers } from './offers.js';
import { guid, OfCentral } from './schemas.js';

const PREFIX = '/panel/api/x/node/offers';
const count = () => int().min(0);

const OfClients = shape({
  central: guid(),
  inbound: int().min(1).description('id of the inbound here'),
  after: withDefault(count(), 0).description('`next` of the page before'),
});
const Inbounds = shape({
  guid: text().description('of this panel'),
  loop: bool().description('the central is a node of this panel: it must adopt nothing'),
  digest: text().description('as in `state`'),
  offered: list(
    shape({
      id: int(),
      tag: text(),
      originGuid: text().description('of the panel on the machine that runs it'),
      originAddress: text().description('host of that machine, where it is below this panel'),
      value: openObject().description('all fields, as inbounds/add takes them, without clients'),
      fallbacks: list(openObject()).description('`childId` is an id of this list'),
      up: count(),
      down: count(),
      managedBy: text().description('guid of another central that has it; blank for none'),
    }),
  ).description('inbounds that this central does not have'),
  own: list(shape({ id: int(), localId: int(), originAddress: text() })).description(
    'those that it has: its ids, and ours',
  ),
});
const Clients = shape({
  clients: list(
    shape({
      id: int(),
      recordId: count().description('the id of the central; 0 for one that it does not have'),
      value: openObject().description('all fields; empty for one that the central has'),
      inboundIds: list(int()),
      credentials: list(openObject()).description('what it has in one inbound only, by inboundId'),
      up: count(),
      down: count(),
      lastOnline: count(),
      lastSubFetch: count(),
      resetCount: count(),
      managedBy: text(),
    }),
  ),
  next: int().description('`after` of the next page; 0 on the last one'),
});

export const offerRoutes = ({ offers }: { readonly offers: Offers }): Route[] => [
  route({
    method: 'GET',
    path: PREFIX,
    name: 'node.offers',
    doc: 'The inbounds of this panel that the central does not have: it may adopt those that nobody manages, by a change of the kind inbound with their id as `adopts`.',
    query: OfCentral,
    reply: payload(Inbounds),
    handle: ({ query }) => offers.all(query.central),
  }),
  route({
    method: 'GET',
    path: `${PREFIX}/clients`,
    name: 'node.offeredClients',
    doc: 'The clients of one inbound, with what they used, in pages of 500.',
    query: OfClients,
    reply: payload(Clients),
    handle: ({ query }) => offers.clients(query.central, query.inbound, query.after),
  }),
];
