// Routes over many clients. A client that cannot be changed is skipped with its reason.
import {
  int,
  LARGE_BODY,
  LIST_BODY,
  list,
  message,
  payload,
  route,
  type Route,
  withMessage,
  shape,
  text,
} from '../../../kernel/index.js';
import { describeResult } from '../../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../../inbounds/contract.js';
import { errors } from '../errors.js';
import { addEach } from '../import/add-each.js';
import { depletionOf } from '../model/row.js';
import { AddClients } from '../model/schema.js';
import type { BulkOperations } from './bulk-operations.js';
import type { ClientService } from './client-service.js';
import {
  BulkAdjust,
  BulkDelete,
  Emails,
  EmailsAndInbounds,
  Skipped,
  SkippedItems,
} from './request-schemas.js';

const names = () => list(text());

interface Needs {
  readonly service: ClientService;
  readonly bulk: BulkOperations;
  readonly inbounds: InboundsApi;
}

export const bulkRoutes = ({ service, bulk, inbounds }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkCreate',
    name: 'clients.bulkCreate',
    doc: 'Creates many clients in one transaction; what cannot be created is listed with its reason.',
    body: AddClients,
    bodyLimit: LARGE_BODY,
    reply: payload(shape({ created: int(), skipped: SkippedItems })),
    idempotent: true,
    handle: async ({ body, who }) => {
      const { applied, ...result } = await addEach(service, body, who);
      return withMessage(describeResult(`${result.created} clients created`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkEnable',
    name: 'clients.bulkEnable',
    doc: 'Switches clients on; who is at a limit stays off until it is raised.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ changed: int(), skipped: Skipped })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await bulk.setEnable(body.emails, true, who);
      return withMessage(describeResult(`${result.changed} clients enabled`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDisable',
    name: 'clients.bulkDisable',
    doc: 'Switches clients off.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ changed: int(), skipped: Skipped })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await bulk.setEnable(body.emails, false, who);
      return withMessage(describeResult(`${result.changed} clients disabled`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkAdjust',
    name: 'clients.bulkAdjust',
    doc: 'Adds days, bytes, a flow or a limit of devices; negative numbers cut. What does not fit a client is told, the rest is done.',
    body: BulkAdjust,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ adjusted: int(), skipped: Skipped })),
    errors: [errors.NOTHING_TO_ADJUST],
    idempotent: true,
    handle: async ({ body: { emails, addDays, addBytes, flow, limitHwid }, who }) => {
      if (addDays === 0 && addBytes === 0 && flow === '' && limitHwid === undefined)
        throw errors.NOTHING_TO_ADJUST(undefined, { path: 'addDays' });
      const { applied, ...result } = await bulk.adjust(emails, { addDays, addBytes, flow, limitHwid }, who);
      return withMessage(describeResult(`${result.adjusted} clients adjusted`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDel',
    name: 'clients.bulkDelete',
    doc: 'Removes clients with everything they have; what they used stays for their emails with keepTraffic.',
    body: BulkDelete,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ deleted: int(), skipped: Skipped })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await bulk.delete(body.emails, body.keepTraffic, who);
      return withMessage(describeResult(`${result.deleted} clients deleted`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/delDepleted',
    name: 'clients.deleteDepleted',
    doc: 'Removes clients that are at a limit and do not renew themselves.',
    reply: payload(shape({ deleted: int() })),
    handle: async ({ who }) => {
      const { applied, deleted } = await bulk.deleteWhere(
        (row, now) => row.reset === 0 && row.resetDay === 0 && depletionOf(row, now) !== undefined,
        who,
      );
      return withMessage(describeResult(`${deleted} clients deleted`, applied), { deleted });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/delOrphans',
    name: 'clients.deleteOrphans',
    doc: 'Removes clients that are attached to no inbound.',
    reply: payload(shape({ deleted: int() })),
    handle: async ({ who }) => {
      const { applied, deleted } = await bulk.deleteWhere(({ inboundIds }) => inboundIds.length === 0, who);
      return withMessage(describeResult(`${deleted} clients deleted`, applied), { deleted });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkAttach',
    name: 'clients.bulkAttach',
    doc: 'Attaches clients to inbounds; in attached and skipped an email stands once per inbound.',
    body: EmailsAndInbounds,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ attached: names(), skipped: names(), errors: names() })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await bulk.attach(body.emails, body.inboundIds, who);
      return withMessage(describeResult(`${result.attached.length} attachments made`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDetach',
    name: 'clients.bulkDetach',
    doc: 'Detaches clients from inbounds; skipped are those that are attached to none of them.',
    body: EmailsAndInbounds,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ detached: names(), skipped: names(), errors: names() })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await bulk.detach(body.emails, body.inboundIds, who);
      return withMessage(describeResult(`${result.detached.length} clients detached`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkResetTraffic',
    name: 'clients.bulkResetTraffic',
    doc: 'Sets what clients used to zero and switches them on again, unless their time is over.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ affected: int() })),
    handle: async ({ body, who }) => {
      const { applied, affected } = await bulk.resetTraffic(body.emails, who);
      return withMessage(describeResult(`traffic of ${affected} clients reset`, applied), { affected });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/resetAllTraffics',
    name: 'clients.resetAllTraffic',
    doc: 'Sets what all clients used to zero; those that were off because of their quota come back.',
    reply: message(),
    handle: async ({ who }) => describeResult('traffic of all clients reset', await bulk.resetAll(who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/{id}/delAllClients',
    name: 'inbounds.deleteAllClients',
    doc: 'Removes all clients of an inbound, from other inbounds as well.',
    params: shape({ id: int().min(1).example(1) }),
    reply: payload(shape({ deleted: int() })),
    errors: [inboundErrors.NOT_FOUND],
    handle: async ({ params: { id }, who }) => {
      if (!inbounds.get(id))
        throw inboundErrors.NOT_FOUND(`there is no inbound with id ${id}`, { path: 'id' });
      const { applied, deleted } = await bulk.deleteWhere(({ inboundIds }) => inboundIds.includes(id), who);
      return withMessage(describeResult(`${deleted} clients deleted`, applied), { deleted });
    },
  }),
];
