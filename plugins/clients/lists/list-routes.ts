// Routes that show clients.
import { int, list, LongList, payload, route, type Route, shape, TimeSlice } from '../../../kernel/index.js';
import { credentialList } from '../credentials/views.js';
import type { ClientService } from '../edits/client-service.js';
import { Email } from '../edits/request-schemas.js';
import { errors } from '../errors.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { ClientReply, SameTgId, TrafficRecord } from '../model/schema.js';
import type { ClientLists } from './client-lists.js';
import { Page, PageQuery } from './page-schema.js';
import type { ShownUsage } from './shown-usage.js';

interface Needs {
  readonly service: ClientService;
  readonly store: ClientStore;
  readonly lists: ClientLists;
  readonly parts: PartsOfClients;
  readonly shown: ShownUsage;
}

/** Described fields are always present, whichever plugins run. */
const NO_PARTS = { externalLinks: [] };

export const listRoutes = ({ service, store, lists, parts, shown }: Needs): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/clients/list/paged',
    name: 'clients.list',
    doc: 'A page of clients, with counts over all of them.',
    query: PageQuery,
    reply: payload(Page),
    handle: ({ query }) => lists.page(query),
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/list',
    name: 'clients.listAll',
    doc: 'All clients, by id. Each is shown as it is when the reply reaches it.',
    reply: payload(list(ClientReply)),
    handle: () => LongList.of([...store.roster.ordered('id')], (row) => shown.client(row)),
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/get/tgId/{tgId}',
    name: 'clients.getByTgId',
    doc: 'The newest client with this messenger id; sameTgId lists the emails of the others.',
    params: shape({ tgId: int().min(1).example(7) }),
    reply: payload(SameTgId),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { tgId } }) => {
      await new TimeSlice().next();
      const [newest, ...others] = store.roster
        .ordered('id')
        .filter((row) => row.tgId === tgId)
        .toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id);
      if (!newest) throw errors.NOT_FOUND(`there is no client with the tgId ${tgId}`, { path: 'tgId' });
      return {
        ...shown.client(newest),
        ...NO_PARTS,
        ...parts.show(newest.id),
        sameTgId: others.map(({ email }) => email),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/get/{email}',
    name: 'clients.get',
    doc: 'One client, with its inbounds, traffic and external links.',
    params: Email,
    reply: payload(ClientReply),
    errors: [errors.NOT_FOUND],
    // Spreading such a large object costs as much as its JSON, and creates hidden classes with every call.
    handle: ({ params }) => {
      const row = service.find(params.email);
      const reply = Object.assign(shown.client(row), NO_PARTS, parts.show(row.id));
      return row.credentials ? Object.assign(reply, { credentials: credentialList(row.credentials) }) : reply;
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/traffic/{email}',
    name: 'clients.traffic',
    doc: 'What one client used, and its limits.',
    params: Email,
    reply: payload(TrafficRecord),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => shown.traffic(service.find(params.email)),
  }),
];
