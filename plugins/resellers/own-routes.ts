// All that a reseller may call, beside what is of his own account. Each handler begins with the scope of its caller.
import { message, once, payload, route, type Route, validate, withMessage } from '../../kernel/index.js';
import {
  clientErrors,
  PageQuery,
  SomeClient,
  SomeClientRenewal,
  SomeClientsQuery,
} from '../clients/contract.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import type { OwnClients } from './own-clients.js';
import { ClientChanges, Figures, Id, NewOwnClient, OwnClientWithLinks, OwnPage } from './schemas.js';
import type { Scopes } from './scope.js';
import type { OwnViews } from './views.js';

const PATH = '/panel/api/x/reseller';
const NOT_HIS = [errors.NOT_RESELLER, errors.NO_CLIENT, clientErrors.NOT_FOUND];
const QUOTAS = [errors.BYTE_QUOTA, errors.UNLIMITED, errors.DAYS];

export const ownRoutes = ({
  scopes,
  own,
  views,
}: {
  readonly scopes: Scopes;
  readonly own: OwnClients;
  readonly views: OwnViews;
}): Route[] => [
  route({
    method: 'GET',
    path: `${PATH}/me`,
    name: 'reseller.figures',
    doc: 'Returns the quotas of the reseller who asks, and what he has used of them.',
    reply: payload(Figures),
    errors: [errors.NOT_RESELLER],
    handle: ({ who }) => views.figures(scopes.of(who)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/clients`,
    name: 'reseller.clients',
    doc: 'A page of the clients of the reseller who asks.',
    query: SomeClientsQuery,
    reply: payload(OwnPage),
    errors: [errors.NOT_RESELLER],
    handle: async ({ query, who }) => {
      const { rows, ...page } = await scopes.of(who).page(validate(PageQuery, query));
      return { ...page, items: rows.map((row) => views.client(row)) };
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/clients/{id}`,
    name: 'reseller.client',
    doc: 'One client of the reseller who asks, with its links and its subscription.',
    params: Id,
    reply: payload(OwnClientWithLinks),
    errors: NOT_HIS,
    handle: ({ params, who, host }) => views.withLinks(scopes.of(who).find(params.id), host),
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients`,
    name: 'reseller.addClient',
    doc: 'Creates a client within the quotas of the reseller who asks.',
    body: NewOwnClient,
    reply: payload(SomeClient),
    errors: [
      ...[errors.NOT_RESELLER, errors.CLIENT_QUOTA, errors.PREFIX, errors.NOT_YOUR_INBOUND, ...QUOTAS],
      ...[clientErrors.EMAIL_TAKEN, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS],
      inboundErrors.POOL_FULL,
    ],
    handle: async (input) => {
      const { body, who } = input;
      const { id, applied } = await once(input, (note) => own.add(scopes.of(who), body, who, note));
      return withMessage(describeResult('client added', applied), views.client(scopes.of(who).find(id)));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}`,
    name: 'reseller.updateClient',
    doc: 'Changes what is sent of a client. A higher limit counts for the quota; a lower one gives nothing back.',
    params: Id,
    body: ClientChanges,
    reply: message(),
    errors: [
      ...[...NOT_HIS, ...QUOTAS, errors.PREFIX, errors.NOT_YOUR_INBOUND, errors.HELD],
      ...[clientErrors.EMAIL_TAKEN, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS],
      inboundErrors.POOL_FULL,
    ],
    handle: async (input) => {
      const { params, body, who } = input;
      const { applied } = await once(input, (note) => own.update(scopes.of(who), params.id, body, who, note));
      return describeResult('client saved', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/reset`,
    name: 'reseller.resetClient',
    doc: 'Sets the usage of a client to zero; what it used counts once more for the quota.',
    params: Id,
    reply: message(),
    errors: [...NOT_HIS, ...QUOTAS, errors.NO_RESET],
    handle: async (input) => {
      const { params, who } = input;
      const { applied } = await once(input, (note) => own.reset(scopes.of(who), params.id, who, note));
      return describeResult('traffic reset', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/renew`,
    name: 'reseller.renewClient',
    doc: 'Adds days to the expiry of a client, and sets its usage to zero if that is asked for.',
    params: Id,
    body: SomeClientRenewal,
    reply: message(),
    errors: [...NOT_HIS, ...QUOTAS, errors.NO_RESET],
    handle: async (input) => {
      const { params, body, who } = input;
      const { applied } = await once(input, (note) => own.renew(scopes.of(who), params.id, body, who, note));
      return describeResult('client renewed', applied);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/clients/{id}/del`,
    name: 'reseller.deleteClient',
    doc: 'Deletes a client. Bytes that were given do not come back; those that it used beyond its limit count for the quota.',
    params: Id,
    reply: message(),
    errors: NOT_HIS,
    handle: async ({ params, who }) => {
      const { applied } = await own.delete(scopes.of(who), params.id, who);
      return describeResult('client deleted', applied);
    },
  }),
];
