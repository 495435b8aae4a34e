import { list, payload, type Route, route, withMessage } from '../../kernel/index.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import { FallbackReply, MasterId, SaveFallbacks } from './schema.js';
import type { FallbackService } from './service.js';

const PATH = '/panel/api/inbounds/{id}/fallbacks';

export const routes = ({ service }: { service: FallbackService }): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    name: 'inbounds.fallbacks',
    doc: 'The fallbacks of an inbound, in their order.',
    params: MasterId,
    reply: payload(list(FallbackReply)),
    errors: [inboundErrors.NOT_FOUND],
    handle: ({ params }) => [...service.list(params.id)],
  }),
  route({
    method: 'POST',
    path: PATH,
    name: 'inbounds.setFallbacks',
    doc: 'Replaces all fallbacks of an inbound: where the core sends connections that are not of its protocol.',
    params: MasterId,
    body: SaveFallbacks,
    reply: payload(list(FallbackReply)),
    errors: [
      inboundErrors.NOT_FOUND,
      inboundErrors.CORE_REFUSED,
      errors.NO_MASTER,
      errors.CYCLE,
      errors.APART,
    ],
    handle: async ({ params, body, who }) => {
      const { applied, idle } = await service.replace(params.id, body.fallbacks, who);
      const said = describeResult('fallbacks saved', applied);
      return withMessage(idle === undefined ? said : `${said}; they are idle: ${idle}`, [
        ...service.list(params.id),
      ]);
    },
  }),
];
