import {
  LIST_BODY,
  list,
  message,
  once,
  payload,
  route,
  type Route,
  text,
  withMessage,
} from '../../kernel/index.js';
import { type InboundsApi, inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import type { HostService, Outcome } from './host-service.js';
import { groupReply, type HostStore } from './host-store.js';
import {
  AddHosts,
  Enable,
  EnableMany,
  GroupId,
  GroupIds,
  GroupReply,
  InboundId,
  RowReply,
  UpdateHosts,
} from './schemas.js';

const MOST_NAMED = 20;
/** `host groups deleted: 3; unknown: a, b`. */
function described({ count, unknown }: Outcome, done: string): string {
  const named = unknown.slice(0, MOST_NAMED).join(', ');
  const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} others` : '';
  return `host groups ${done}: ${count}${unknown.length > 0 ? `; unknown: ${named}${more}` : ''}`;
}

const addRoute = (path: string, name: string, doc: string, service: HostService): Route =>
  route({
    method: 'POST',
    path,
    name,
    doc,
    body: AddHosts,
    reply: payload(list(RowReply)),
    errors: [errors.GROUP_TAKEN, inboundErrors.NOT_FOUND],
    handle: async (input) => {
      const { rows, notes } = await once(input, (note) => service.add(input.body, input.who, note));
      return withMessage(`hosts added${notes}`, rows);
    },
  });

export const routes = ({
  store,
  service,
  inbounds,
}: {
  store: HostStore;
  service: HostService;
  inbounds: InboundsApi;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/hosts/list',
    name: 'hosts.list',
    doc: 'All host groups, by sortOrder and remark.',
    reply: payload(list(GroupReply)),
    handle: () => store.list().map(groupReply),
  }),
  route({
    method: 'GET',
    path: '/panel/api/hosts/tags',
    name: 'hosts.tags',
    doc: 'The tags of all host groups, each once, sorted.',
    reply: payload(list(text())),
    handle: () => store.tags(),
  }),
  route({
    method: 'GET',
    path: '/panel/api/hosts/get/{groupId}',
    name: 'hosts.get',
    doc: 'One host group.',
    params: GroupId,
    reply: payload(GroupReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params }) => groupReply(store.find(params.groupId)),
  }),
  route({
    method: 'GET',
    path: '/panel/api/hosts/byInbound/{inboundId}',
    name: 'hosts.byInbound',
    doc: 'The host groups with an address for this inbound, each with all its inbounds.',
    params: InboundId,
    reply: payload(list(GroupReply)),
    errors: [inboundErrors.NOT_FOUND],
    handle: ({ params }) => {
      inbounds.require([params.inboundId], 'inboundId');
      return store.ofInbound(params.inboundId).map(groupReply);
    },
  }),
  addRoute(
    '/panel/api/hosts/add',
    'hosts.add',
    'Adds a host group: a row for each address and inbound. In subscriptions its rows take the place of the inbound.',
    service,
  ),
  addRoute(
    '/panel/api/hosts/bulk/add',
    'hosts.bulkAdd',
    'Adds a host group with many addresses, each with or without a port; the same as hosts/add.',
    service,
  ),
  store.versioned(
    route({
      method: 'POST',
      path: '/panel/api/hosts/update/{groupId}',
      name: 'hosts.update',
      doc: 'Changes what is sent and leaves the rest. Rows keep their ids as long as their address and inbound stay.',
      params: GroupId,
      body: UpdateHosts,
      reply: payload(list(RowReply)),
      errors: [errors.NOT_FOUND, inboundErrors.NOT_FOUND],
      handle: async ({ params, body, who }) => {
        const { rows, notes } = await service.update(params.groupId, body, who);
        return withMessage(`hosts saved${notes}`, rows);
      },
    }),
  ),
  store.versioned(
    route({
      method: 'POST',
      path: '/panel/api/hosts/del/{groupId}',
      name: 'hosts.delete',
      doc: 'Deletes a host group with its rows.',
      params: GroupId,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, who }) => {
        store.find(params.groupId);
        await service.delete([params.groupId], who);
        return 'hosts deleted';
      },
    }),
  ),
  store.versioned(
    route({
      method: 'POST',
      path: '/panel/api/hosts/setEnable/{groupId}',
      name: 'hosts.setEnable',
      form: true,
      doc: 'Enables or disables a host group. While all hosts of an inbound are disabled, subscriptions show the inbound itself.',
      params: GroupId,
      body: Enable,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, body, who }) => {
        store.find(params.groupId);
        await service.setEnable([params.groupId], body.enable, who);
        return body.enable ? 'hosts enabled' : 'hosts disabled';
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/panel/api/hosts/reorder',
    name: 'hosts.reorder',
    doc: 'Gives host groups the places 0, 1, 2 … in this order; others stay where they are. Unknown ids are named in msg.',
    body: GroupIds,
    bodyLimit: LIST_BODY,
    reply: message(),
    handle: async ({ body, who }) => described(await service.reorder(body.ids, who), 'moved'),
  }),
  route({
    method: 'POST',
    path: '/panel/api/hosts/bulk/setEnable',
    name: 'hosts.bulkSetEnable',
    doc: 'Enables or disables host groups. Unknown ids are named in msg.',
    body: EnableMany,
    bodyLimit: LIST_BODY,
    reply: message(),
    handle: async ({ body, who }) =>
      described(await service.setEnable(body.ids, body.enable, who), body.enable ? 'enabled' : 'disabled'),
  }),
  route({
    method: 'POST',
    path: '/panel/api/hosts/bulk/del',
    name: 'hosts.bulkDelete',
    doc: 'Deletes host groups. Unknown ids are named in msg.',
    body: GroupIds,
    bodyLimit: LIST_BODY,
    reply: message(),
    handle: async ({ body, who }) => described(await service.delete(body.ids, who), 'deleted'),
  }),
];
