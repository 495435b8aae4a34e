// Routes over many clients. A client that cannot be changed is skipped with its reason.
import {
  int,
  LARGE_BODY,
  LIST_BODY,
  list,
  once,
  message,
  optional,
  payload,
  route,
  type Route,
  withMessage,
  shape,
  text,
} from '../../../kernel/index.js';
import { type Applied, describeResult } from '../../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../../inbounds/contract.js';
import { errors } from '../errors.js';
import { depletionOf } from '../model/depletion.js';
import { canRenew } from '../model/renewal.js';
import { AddClients } from '../model/schema.js';
import type { UsageEdits } from '../usage/usage-edits.js';
import { addValid } from './add-valid.js';
import { refuseNothing } from './bulk-actions.js';
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

/** Fields of replies to large changes; absent when the core has all of them. */
const onTheWayFields = {
  pending: optional(int().min(0)).description('users that are on their way to the core'),
  lagMs: optional(int().min(0)).description('about how long they take, in ms'),
};
const onTheWayOf = ({ onTheWay }: Applied): { pending?: number; lagMs?: number } =>
  onTheWay ? { pending: onTheWay.users, lagMs: onTheWay.ms } : {};

/** Says in words and numbers whether the core has the change. */
const answer = <T extends object>(done: string, { applied, ...result }: T & { readonly applied: Applied }) =>
  withMessage(describeResult(done, applied), { ...result, ...onTheWayOf(applied) });

interface Needs {
  readonly service: ClientService;
  readonly bulk: BulkOperations;
  readonly usage: UsageEdits;
  readonly inbounds: InboundsApi;
}

export const bulkRoutes = ({ service, bulk, usage, inbounds }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkCreate',
    name: 'clients.bulkCreate',
    doc: 'Creates many clients in one transaction; what cannot be created is listed with its reason.',
    body: AddClients,
    bodyLimit: LARGE_BODY,
    reply: payload(shape({ created: int(), skipped: SkippedItems, ...onTheWayFields })),
    handle: async (input) => {
      const result = await once(input, (note) =>
        addValid(service, input.body, input.who, undefined, { note }),
      );
      return answer(`${result.created} clients created`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkEnable',
    name: 'clients.bulkEnable',
    doc: 'Enables clients; a client at a limit stays disabled until the limit is raised. changed counts also those that were enabled before.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ changed: int(), skipped: Skipped, ...onTheWayFields })),
    handle: async ({ body, who }) => {
      const result = await bulk.setEnable(body.emails, true, who);
      return answer(`${result.changed} clients enabled`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDisable',
    name: 'clients.bulkDisable',
    doc: 'Disables clients; changed counts also those that were disabled before.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ changed: int(), skipped: Skipped, ...onTheWayFields })),
    handle: async ({ body, who }) => {
      const result = await bulk.setEnable(body.emails, false, who);
      return answer(`${result.changed} clients disabled`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkAdjust',
    name: 'clients.bulkAdjust',
    doc: 'Adds days and bytes, and sets the flow, the limit of devices or the ad tag; negative numbers subtract. What does not fit a client is skipped with the reason, the rest is applied.',
    body: BulkAdjust,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ adjusted: int(), skipped: Skipped, ...onTheWayFields })),
    errors: [errors.NOTHING_TO_ADJUST],
    handle: async (input) => {
      const { emails, addDays, addBytes, flow, limitHwid, adTag } = input.body;
      refuseNothing({ addDays, addBytes, flow, limitHwid, adTag });
      const result = await once(input, (note) =>
        bulk.adjust(emails, { addDays, addBytes, flow, limitHwid, adTag }, input.who, note),
      );
      return answer(`${result.adjusted} clients adjusted`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDel',
    name: 'clients.bulkDelete',
    doc: 'Deletes clients with all their data; keepTraffic retains their usage by email.',
    body: BulkDelete,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ deleted: int(), skipped: Skipped, ...onTheWayFields })),
    handle: async ({ body, who }) => {
      const result = await bulk.delete(body.emails, body.keepTraffic, who);
      return answer(`${result.deleted} clients deleted`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/delDepleted',
    name: 'clients.deleteDepleted',
    doc: 'Deletes clients that are at a limit, but for those that have a renewal left.',
    reply: payload(shape({ deleted: int(), ...onTheWayFields })),
    handle: async ({ who, reply }) => {
      const result = await bulk.deleteWhere(
        (row, now) => !canRenew(row) && depletionOf(row, now) !== undefined,
        who,
        reply.progressed,
      );
      return answer(`${result.deleted} clients deleted`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/delOrphans',
    name: 'clients.deleteOrphans',
    doc: 'Deletes clients that are attached to no inbound.',
    reply: payload(shape({ deleted: int(), ...onTheWayFields })),
    handle: async ({ who, reply }) => {
      const result = await bulk.deleteWhere(
        ({ inboundIds }) => inboundIds.length === 0,
        who,
        reply.progressed,
      );
      return answer(`${result.deleted} clients deleted`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkAttach',
    name: 'clients.bulkAttach',
    doc: 'Attaches clients to inbounds; attached and skipped list an email once per inbound.',
    body: EmailsAndInbounds,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ attached: names(), skipped: names(), errors: names(), ...onTheWayFields })),
    handle: async (input) => {
      const { emails, inboundIds } = input.body;
      const result = await once(input, (note) => bulk.attach(emails, inboundIds, input.who, { note }));
      return answer(`${result.attached.length} attachments made`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDetach',
    name: 'clients.bulkDetach',
    doc: 'Detaches clients from inbounds; skipped lists those that are attached to none of them.',
    body: EmailsAndInbounds,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ detached: names(), skipped: names(), errors: names(), ...onTheWayFields })),
    handle: async ({ body, who }) => {
      const result = await bulk.detach(body.emails, body.inboundIds, who);
      return answer(`${result.detached.length} clients detached`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkResetTraffic',
    name: 'clients.bulkResetTraffic',
    doc: 'Resets the usage of clients and enables them, unless they are expired.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ affected: int(), ...onTheWayFields })),
    handle: async ({ body, who }) => {
      const result = await usage.resetTraffic(body.emails, who);
      return answer(`traffic of ${result.affected} clients reset`, result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/resetAllTraffics',
    name: 'clients.resetAllTraffic',
    doc: 'Resets the usage of all clients; clients that were disabled by their quota are enabled.',
    reply: message(),
    handle: async ({ who, reply }) =>
      describeResult('traffic of all clients reset', await usage.resetAll(who, reply.progressed)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/{id}/delAllClients',
    name: 'inbounds.deleteAllClients',
    doc: 'Deletes all clients of an inbound, also if they are attached to others.',
    params: shape({ id: int().min(1).example(1) }),
    reply: payload(shape({ deleted: int(), ...onTheWayFields })),
    errors: [inboundErrors.NOT_FOUND],
    handle: async ({ params: { id }, who, reply }) => {
      if (!inbounds.get(id))
        throw inboundErrors.NOT_FOUND(`there is no inbound with id ${id}`, { path: 'id' });
      const result = await bulk.deleteWhere(
        ({ inboundIds }) => inboundIds.includes(id),
        who,
        reply.progressed,
      );
      return answer(`${result.deleted} clients deleted`, result);
    },
  }),
];
