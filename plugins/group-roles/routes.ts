// All that an admin of groups may call, beside what is of the own account. Each handler begins with the scope of its caller.
import { message, once, payload, route, type Route, validate, withMessage } from '../../kernel/index.js';
import { clientErrors, PageQuery, SomeClientRenewal, SomeClientsQuery } from '../clients/contract.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import type { GroupClients } from './group-clients.js';
import {
  GroupClient,
  GroupClientChanges,
  GroupClientsPage,
  GroupClientWithLinks,
  Id,
  NewGroupClient,
  OwnGroups,
} from './schemas.js';
import type { GroupScopes } from './scope.js';
import type { GroupViews } from './views.js';

const PATH = '/panel/api/x/group-clients';
const ONE = [errors.NO_ROLE, errors.NO_CLIENT];
const EDIT = [...ONE, errors.READ_ONLY, clientErrors.NOT_FOUND];

export const routes = ({
  scopes,
  edits,
  views,
}: {
  readonly scopes: GroupScopes;
  readonly edits: GroupClients;
  readonly views: GroupViews;
}): Route[] => [
  route({
    method: 'GET',
    path: `${PATH}/me`,
    name: 'groupRoles.own',
    doc: 'Returns the groups of the caller, whether it may change their clients, and the inbounds that these have.',
    reply: payload(OwnGroups),
    errors: [errors.NO_ROLE],
    handle: ({ who }) => views.own(scopes.of(who)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/clients`,
    name: 'groupRoles.clients',
    doc: 'A page of the clients of the groups of the caller.',
    query: SomeClientsQuery,
    reply: payload(GroupClientsPage),
    errors: [errors.NO_ROLE],
    handle: async ({ query, who }) => {
      const { rows, ...page } = await scopes.of(who).page(validate(PageQuery, query));
      return { ...page, items: rows.map((row) => views.client(row)) };
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/clients/{id}`,
    name: 'groupRoles.client',
    doc: 'One client of these groups, with its links and its subscription.',
    params: Id,
    reply: payload(GroupClientWithLinks),
    errors: ONE,
    handle: ({ params, who, host }) => views.withLinks(scopes.of(who).find(params.id), host),
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients`,
    name: 'groupRoles.addClient',
    doc: 'Creates a client in one of these groups, in inbounds that clients of the groups have.',
    body: NewGroupClient,
    reply: payload(GroupClient),
    errors: [
      ...[errors.NO_ROLE, errors.READ_ONLY, errors.NOT_YOUR_GROUP, errors.NOT_YOUR_INBOUND],
      ...[clientErrors.EMAIL_TAKEN, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS],
      inboundErrors.POOL_FULL,
    ],
    handle: async (input) => {
      const { body, who } = input;
      const { id, applied } = await once(input, (note) => edits.add(scopes.of(who), body, who, note));
      return withMessage(describeResult('client added', applied), views.client(scopes.of(who).find(id)));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}`,
    name: 'groupRoles.updateClient',
    doc: 'Changes what is sent of a client. Its inbounds stay; another group must be one of these groups.',
    params: Id,
    body: GroupClientChanges,
    reply: message(),
    errors: [...EDIT, errors.NOT_YOUR_GROUP, clientErrors.EMAIL_TAKEN],
    handle: async (input) => {
      const { params, body, who } = input;
      const { applied } = await once(input, (note) =>
        edits.update(scopes.of(who), params.id, body, who, note),
      );
      return describeResult('client saved', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/reset`,
    name: 'groupRoles.resetClient',
    doc: 'Sets the usage of a client to zero.',
    params: Id,
    reply: message(),
    errors: EDIT,
    handle: async (input) => {
      const { params, who } = input;
      const { applied } = await once(input, (note) => edits.reset(scopes.of(who), params.id, who, note));
      return describeResult('traffic reset', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/renew`,
    name: 'groupRoles.renewClient',
    doc: 'Adds days to the expiry of a client, and sets its usage to zero if that is asked for.',
    params: Id,
    body: SomeClientRenewal,
    reply: message(),
    errors: EDIT,
    handle: async (input) => {
      const { params, body, who } = input;
      const { applied } = await once(input, (note) =>
        edits.renew(scopes.of(who), params.id, body, who, note),
      );
      return describeResult('client renewed', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/del`,
    name: 'groupRoles.deleteClient',
    doc: 'Deletes a client with all its data.',
    params: Id,
    reply: message(),
    errors: EDIT,
    handle: async ({ params, who }) => {
      const { applied } = await edits.delete(scopes.of(who), params.id, who);
      return describeResult('client deleted', applied);
    },
  }),
];
