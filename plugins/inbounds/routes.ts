import {
  bool,
  type Clock,
  LARGE_BODY,
  list,
  message,
  once,
  payload,
  route,
  type Route,
  withMessage,
  shape,
} from '../../kernel/index.js';
import { describeResult } from '../engine/contract.js';
import { errors } from './errors.js';
import {
  AddInbound,
  BulkDeleted,
  COUNTED,
  InboundId,
  InboundIds,
  InboundOption,
  InboundReply,
  SortIndex,
  Stats,
  UpdateInbound,
} from './schema.js';
import type { InboundLimits } from './limits.js';
import type { InboundService } from './service.js';
import { inboundVersion } from './version.js';
import type { InboundViews } from './views.js';

const refusals = [
  errors.PORT_TAKEN,
  errors.PORT_IN_USE,
  errors.TAG_TAKEN,
  errors.UNKNOWN_PROTOCOL,
  errors.CORE_REFUSED,
];

function leaveIn(ignored: Set<string>, keys: readonly string[]): void {
  ignored.clear();
  for (const key of keys) ignored.add(key);
}

export const routes = ({
  service,
  views,
  limits,
  clock,
}: {
  service: InboundService;
  views: InboundViews;
  limits: InboundLimits;
  clock: Clock;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/inbounds/list',
    name: 'inbounds.list',
    doc: 'All inbounds, without their settings. Needs the permission to read clients for `clientStats`, which is empty otherwise.',
    query: Stats,
    reply: payload(list(InboundReply)),
    handle: ({ query, who }) => views.list(query, who),
  }),
  route({
    method: 'GET',
    path: '/panel/api/inbounds/list/slim',
    name: 'inbounds.listSlim',
    doc: 'All inbounds with their settings; of clients only email, enable and comment.',
    query: Stats,
    reply: payload(list(InboundReply)),
    handle: ({ query }) => views.slim(query),
  }),
  route({
    method: 'GET',
    path: '/panel/api/inbounds/options',
    name: 'inbounds.options',
    doc: 'Inbounds for a selection list, without secrets.',
    reply: payload(list(InboundOption)),
    handle: () => views.options(),
  }),
  route({
    method: 'GET',
    path: '/panel/api/inbounds/get/{id}',
    name: 'inbounds.get',
    doc: 'One inbound with its settings and clients.',
    params: InboundId,
    query: Stats,
    reply: payload(InboundReply),
    errors: [errors.NOT_FOUND],
    handle: ({ params, query }) => views.get(params.id, query),
  }),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/add',
    name: 'inbounds.add',
    form: true,
    doc: 'Creates an inbound and adds it to the core. Clients in `settings` are created with it; one whose email and subId are known is attached.',
    body: AddInbound,
    bodyLimit: LARGE_BODY,
    reply: payload(InboundReply),
    errors: [...refusals, errors.CLIENTS_APART],
    handle: async (input) => {
      const { body, who, ignored } = input;
      const { id, applied, note } = await once(input, (committing) =>
        service.add(body, who, { ignored, committing }),
      );
      const counted = COUNTED.filter((key) => ignored.has(key));
      leaveIn(ignored, [...counted, ...views.withoutShown(ignored, id)]);
      return withMessage(describeResult(`inbound added${note}${views.note(id)}`, applied), views.get(id));
    },
  }),
  inboundVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/inbounds/update/{id}',
      name: 'inbounds.update',
      form: true,
      doc: 'Changes what is sent and leaves the rest. With `settings.clients`, the inbound has these clients afterwards: others are detached and stay, new ones are created.',
      params: InboundId,
      body: UpdateInbound,
      bodyLimit: LARGE_BODY,
      reply: payload(InboundReply),
      errors: [errors.NOT_FOUND, ...refusals],
      handle: async ({ params: { id }, body, who, ignored }) => {
        const { applied, note } = await service.update(id, body, who, ignored);
        leaveIn(ignored, views.withoutShown(ignored, id));
        return withMessage(describeResult(`inbound saved${note}${views.note(id)}`, applied), views.get(id));
      },
    }),
    ({ id }: { readonly id: number }) => views.own(id),
  ),
  inboundVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/inbounds/del/{id}',
      name: 'inbounds.delete',
      doc: 'Removes an inbound; its clients stay without it.',
      params: InboundId,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, who }) =>
        describeResult('inbound deleted', await service.delete(params.id, who)),
    }),
    ({ id }: { readonly id: number }) => views.own(id),
  ),
  inboundVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/inbounds/setEnable/{id}',
      name: 'inbounds.setEnable',
      form: true,
      doc: 'Enables or disables an inbound.',
      params: InboundId,
      body: shape({ enable: bool() }).example({ enable: false }),
      reply: message(),
      errors: [errors.NOT_FOUND, errors.PORT_IN_USE],
      handle: async ({ params, body, who }) => {
        const { applied, held } = await service.setEnable(params.id, body.enable, who);
        if (held)
          return `the inbound stays disabled until ${held === 'quota' ? 'its total is raised or its traffic reset' : 'its expiry is moved'}`;
        return describeResult(
          body.enable ? `inbound enabled${views.note(params.id)}` : 'inbound disabled',
          applied,
        );
      },
    }),
    ({ id }: { readonly id: number }) => views.own(id),
  ),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/bulkDel',
    name: 'inbounds.bulkDelete',
    doc: 'Removes inbounds; their clients stay without them.',
    body: InboundIds,
    reply: payload(BulkDeleted),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await service.deleteMany(body.ids, who);
      return withMessage(describeResult(`${result.deleted} inbounds deleted`, applied), result);
    },
  }),
  inboundVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/inbounds/{id}/subSortIndex',
      name: 'inbounds.setSubSortIndex',
      form: true,
      doc: 'Sets the position of an inbound in subscriptions.',
      params: InboundId,
      body: SortIndex,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, body, who }) => {
        await service.setSortIndex(params.id, body.subSortIndex, who);
        return 'inbound saved';
      },
    }),
    ({ id }: { readonly id: number }) => views.own(id),
  ),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/{id}/resetTraffic',
    name: 'inbounds.resetTraffic',
    doc: 'Sets the counters of an inbound to zero; those of its clients stay.',
    params: InboundId,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params, who }) =>
      describeResult('traffic reset', await limits.resetOne(params.id, clock.now(), who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/inbounds/resetAllTraffics',
    name: 'inbounds.resetAllTraffic',
    doc: 'Sets the counters of all inbounds to zero; those of clients stay.',
    reply: message(),
    handle: async ({ who }) =>
      describeResult('traffic of all inbounds reset', await limits.resetAll(clock.now(), who)),
  }),
];
