// Calls over many clients. What one of them cannot take is skipped with its reason; the others go on.
import type { IncomingMessage } from 'node:http';
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
  TimeSlice,
} from '../../kernel/index.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../inbounds/contract.js';
import { addEach } from './bulk.js';
import { errors } from './errors.js';
import { type Import, LARGEST_IMPORT } from './import/import.js';
import type { ManyClients } from './many.js';
import {
  AddClients,
  AdjustMany,
  DeleteMany,
  Emails,
  EmailsAndInbounds,
  ExportedClient,
  ImportData,
  Skipped,
  SkippedItems,
} from './schema.js';
import { depletionOf } from './row.js';
import type { ClientService } from './service.js';
import type { ClientStore } from './store.js';
import { exported } from './transfer.js';

const names = () => list(text());

export const manyRoutes = ({
  service,
  store,
  many,
  importing,
  inbounds,
}: {
  service: ClientService;
  store: ClientStore;
  many: ManyClients;
  importing: Import;
  inbounds: InboundsApi;
}): Route[] => [
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
    method: 'GET',
    path: '/panel/api/clients/export',
    name: 'clients.export',
    doc: 'All clients with their secrets and inbounds, as clients/import takes them.',
    reply: payload(list(ExportedClient)),
    handle: async () => {
      // Many of these at once take turns.
      await new TimeSlice().next();
      return store.roster.ordered('id').map(exported);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/import',
    name: 'clients.import',
    doc: 'Creates the clients of an export of at most 256 MiB; ids of inbounds are those of this panel. A broken list changes nothing; what cannot be created is listed with its place and reason, the first 10,000 of them.',
    stream: true,
    body: ImportData,
    bodyLimit: LARGEST_IMPORT,
    reply: payload(shape({ created: int(), skipped: SkippedItems, skippedCount: int() })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await importing.run(body as unknown as IncomingMessage, who);
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
      const { applied, ...result } = await many.setEnable(body.emails, true, who);
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
      const { applied, ...result } = await many.setEnable(body.emails, false, who);
      return withMessage(describeResult(`${result.changed} clients disabled`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkAdjust',
    name: 'clients.bulkAdjust',
    doc: 'Adds days, bytes, a flow or a limit of devices; negative numbers cut. What does not fit a client is told, the rest is done.',
    body: AdjustMany,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ adjusted: int(), skipped: Skipped })),
    errors: [errors.NOTHING_TO_ADJUST],
    idempotent: true,
    handle: async ({ body: { emails, addDays, addBytes, flow, limitHwid }, who }) => {
      if (addDays === 0 && addBytes === 0 && flow === '' && limitHwid === undefined)
        throw errors.NOTHING_TO_ADJUST(undefined, { path: 'addDays' });
      const { applied, ...result } = await many.adjust(emails, { addDays, addBytes, flow, limitHwid }, who);
      return withMessage(describeResult(`${result.adjusted} clients adjusted`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/bulkDel',
    name: 'clients.bulkDelete',
    doc: 'Removes clients with everything they have; what they used stays for their emails with keepTraffic.',
    body: DeleteMany,
    bodyLimit: LIST_BODY,
    reply: payload(shape({ deleted: int(), skipped: Skipped })),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await many.delete(body.emails, body.keepTraffic, who);
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
      const { applied, deleted } = await many.deleteWhere(
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
      const { applied, deleted } = await many.deleteWhere(({ inboundIds }) => inboundIds.length === 0, who);
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
      const { applied, ...result } = await many.attach(body.emails, body.inboundIds, who);
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
      const { applied, ...result } = await many.detach(body.emails, body.inboundIds, who);
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
      const { applied, affected } = await many.resetTraffic(body.emails, who);
      return withMessage(describeResult(`traffic of ${affected} clients reset`, applied), { affected });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/resetAllTraffics',
    name: 'clients.resetAllTraffic',
    doc: 'Sets what all clients used to zero; those that were off because of their quota come back.',
    reply: message(),
    handle: async ({ who }) => describeResult('traffic of all clients reset', await many.resetAll(who)),
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
      const { applied, deleted } = await many.deleteWhere(({ inboundIds }) => inboundIds.includes(id), who);
      return withMessage(describeResult(`${deleted} clients deleted`, applied), { deleted });
    },
  }),
];
