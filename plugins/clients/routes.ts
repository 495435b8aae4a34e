import { anything, describedAs, int, list, message, payload, route, type Route, said, shape } from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import { addEach } from './bulk.js';
import { errors } from './errors.js';
import { AddClient, ClientPatch, ClientReply, Email, Page, PageQuery, Skipped, TrafficRecord } from './schema.js';
import type { ClientLists } from './lists.js';
import type { ClientService } from './service.js';
import { clientView, trafficOf } from './view.js';

const told = (done: string, { pending, reason }: Applied): string => (pending ? `${done}; the core does not have it yet: ${reason}` : done);
const taken = [errors.EMAIL_TAKEN, errors.SUB_ID_TAKEN, errors.UUID_TAKEN, errors.PASSWORD_TAKEN];

export const routes = ({ service, lists }: { service: ClientService; lists: ClientLists }): Route[] => [
  route({
    method: 'GET', path: '/panel/api/clients/list/paged', doc: 'A page of clients, with counts over all of them.',
    query: PageQuery, reply: payload(Page),
    handle: ({ query }) => lists.page(query),
  }),
  route({
    method: 'GET', path: '/panel/api/clients/get/{email}', doc: 'One client, with its inbounds and traffic.',
    params: Email, reply: payload(ClientReply), errors: [errors.NOT_FOUND],
    handle: ({ params }) => ({ ...clientView(service.find(params.email)), externalLinks: [] }),
  }),
  route({
    method: 'GET', path: '/panel/api/clients/traffic/{email}', doc: 'What one client used, and its limits.',
    params: Email, reply: payload(TrafficRecord), errors: [errors.NOT_FOUND],
    handle: ({ params }) => trafficOf(service.find(params.email)),
  }),
  route({
    method: 'POST', path: '/panel/api/clients/add', doc: 'Creates a client and attaches it to inbounds.',
    body: AddClient, reply: message(), errors: taken,
    handle: async ({ body }) => told('client added', await service.add(body)),
  }),
  route({
    method: 'POST', path: '/panel/api/clients/bulkCreate', doc: 'Creates many clients in one transaction; what cannot be created is listed with its reason.',
    body: list(describedAs(anything(), AddClient)).max(10_000), reply: payload(shape({ created: int(), skipped: Skipped })), errors: taken,
    handle: async ({ body }) => {
      const { applied, ...result } = await addEach(service, body);
      return said(told(`${result.created} clients created`, applied), result);
    },
  }),
  route({
    method: 'POST', path: '/panel/api/clients/update/{email}', doc: 'Changes what is sent and leaves the rest.',
    params: Email, body: ClientPatch, reply: message(), errors: [errors.NOT_FOUND, ...taken],
    handle: async ({ params, body }) => told('client saved', await service.update(params.email, body)),
  }),
  route({
    method: 'POST', path: '/panel/api/clients/del/{email}', doc: 'Removes a client with everything it has.',
    params: Email, reply: message(), errors: [errors.NOT_FOUND],
    handle: async ({ params }) => told('client deleted', await service.delete(params.email)),
  }),
];
