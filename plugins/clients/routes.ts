import { list, message, payload, route, type Route, TimeSlice } from '../../kernel/index.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../inbounds/contract.js';
import type { Edits } from './edits.js';
import { errors } from './errors.js';
import type { ClientLists } from './lists.js';
import type { ManyClients } from './many.js';
import {
  AddClient,
  ClientPatch,
  ClientReply,
  Counters,
  Email,
  InboundIds,
  KeepTraffic,
  Page,
  PageQuery,
  SameTgId,
  TgId,
  TrafficRecord,
} from './schema.js';
import type { ClientService } from './service.js';
import type { ClientStore } from './store.js';
import { clientView, trafficOf } from './view.js';

const taken = [errors.EMAIL_TAKEN, errors.SUB_ID_TAKEN, errors.UUID_TAKEN, errors.PASSWORD_TAKEN];

interface Needs {
  readonly service: ClientService;
  readonly store: ClientStore;
  readonly lists: ClientLists;
  readonly edits: Edits;
  readonly many: ManyClients;
  readonly inbounds: InboundsApi;
}

export const routes = ({ service, store, lists, edits, many, inbounds }: Needs): Route[] => [
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
    doc: 'All clients, by id.',
    reply: payload(list(ClientReply)),
    handle: async () => {
      // Many of these at once take turns.
      await new TimeSlice().next();
      return store.roster.ordered('id').map(clientView);
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/get/tgId/{tgId}',
    name: 'clients.getByTgId',
    doc: 'The newest client with this messenger id; sameTgId lists the emails of the others.',
    params: TgId,
    reply: payload(SameTgId),
    errors: [errors.NOT_FOUND],
    handle: ({ params: { tgId } }) => {
      const [newest, ...others] = store.roster
        .ordered('id')
        .filter((row) => row.tgId === tgId)
        .toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id);
      if (!newest) throw errors.NOT_FOUND(`there is no client with the tgId ${tgId}`, { path: 'tgId' });
      return { ...clientView(newest), externalLinks: [], sameTgId: others.map(({ email }) => email) };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/get/{email}',
    name: 'clients.get',
    doc: 'One client, with its inbounds and traffic.',
    params: Email,
    reply: payload(ClientReply),
    errors: [errors.NOT_FOUND],
    // Spreading so large an object costs as much as writing it as JSON, and leaves hidden classes behind for every call.
    handle: ({ params }) => Object.assign(clientView(service.find(params.email)), { externalLinks: [] }),
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/traffic/{email}',
    name: 'clients.traffic',
    doc: 'What one client used, and its limits.',
    params: Email,
    reply: payload(TrafficRecord),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => trafficOf(service.find(params.email)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/add',
    name: 'clients.add',
    doc: 'Creates a client and attaches it to inbounds.',
    body: AddClient,
    reply: message(),
    errors: taken,
    idempotent: true,
    handle: async ({ body, who }) => describeResult('client added', await service.add(body, who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/update/{email}',
    name: 'clients.update',
    doc: 'Changes what is sent and leaves the rest.',
    params: Email,
    body: ClientPatch,
    reply: message(),
    errors: [errors.NOT_FOUND, ...taken],
    handle: async ({ params, body, who }) =>
      describeResult('client saved', await service.update(params.email, body, who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/del/{email}',
    name: 'clients.delete',
    doc: 'Removes a client with everything it has; what it used stays for its email with keepTraffic.',
    params: Email,
    query: KeepTraffic,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, query: { keepTraffic }, who }) => {
      const { deleted, applied } = await edits.delete(
        [service.find(email)],
        keepTraffic === '1' || keepTraffic === 'true',
        who,
      );
      if (deleted.size === 0)
        throw errors.NOT_FOUND(`the client ${email} was deleted meanwhile`, { path: 'email' });
      return describeResult('client deleted', applied);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/{email}/attach',
    name: 'clients.attach',
    doc: 'Attaches a client to inbounds; what it is attached to already stays.',
    params: Email,
    body: InboundIds,
    reply: message(),
    errors: [errors.NOT_FOUND, inboundErrors.NOT_FOUND],
    handle: async ({ params: { email }, body: { inboundIds }, who }) => {
      const row = service.find(email);
      inbounds.require(inboundIds, 'inboundIds');
      return describeResult(
        'client attached',
        await edits.apply([{ row, attach: inboundIds.filter((id) => !row.inboundIds.includes(id)) }], who),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/{email}/detach',
    name: 'clients.detach',
    doc: 'Detaches a client from inbounds; what it used through them stays counted.',
    params: Email,
    body: InboundIds,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, body: { inboundIds }, who }) => {
      const row = service.find(email);
      return describeResult(
        'client detached',
        await edits.apply([{ row, detach: inboundIds.filter((id) => row.inboundIds.includes(id)) }], who),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/resetTraffic/{email}',
    name: 'clients.resetTraffic',
    doc: 'Sets what a client used to zero and switches it on again, unless its time is over.',
    params: Email,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, who }) =>
      describeResult('traffic reset', (await many.resetTraffic([service.find(email).email], who)).applied),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/updateTraffic/{email}',
    name: 'clients.updateTraffic',
    doc: 'Sets what a client used.',
    params: Email,
    body: Counters,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, body: { upload: up, download: down }, who }) =>
      describeResult('traffic saved', await many.setTraffic(service.find(email), { up, down }, who)),
  }),
];
