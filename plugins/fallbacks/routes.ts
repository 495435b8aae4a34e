import { list, payload, type Route, route, withMessage } from '../../kernel/index.js';
import { describeResult } from '../engine/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import { FallbackReply, MasterId, SaveFallbacks } from './schema.js';
import type { FallbackService } from './service.js';
import { fallbackVersion } from './store.js';

const PATH = '/panel/api/inbounds/{id}/fallbacks';

export const routes = ({ service }: { service: FallbackService }): Route[] => {
  const shown = (id: number) => {
    const fallbacks = service.list(id);
    return { fallbacks: [...fallbacks], version: fallbackVersion.of(fallbacks) };
  };
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'inbounds.fallbacks',
      doc: 'The fallbacks of an inbound, in their order. The header ETag has their version.',
      params: MasterId,
      reply: payload(list(FallbackReply)),
      errors: [inboundErrors.NOT_FOUND],
      handle: ({ params, reply }) => {
        const { fallbacks, version } = shown(params.id);
        reply.header('ETag', `"${version}"`);
        return fallbacks;
      },
    }),
    fallbackVersion.guarded(
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
        handle: async ({ params, body, who, reply }) => {
          const { applied, idle } = await service.replace(params.id, body.fallbacks, who);
          const said = describeResult('fallbacks saved', applied);
          const { fallbacks, version } = shown(params.id);
          reply.header('ETag', `"${version}"`);
          return withMessage(idle === undefined ? said : `${said}; they are idle: ${idle}`, fallbacks);
        },
      }),
      ({ id }: { readonly id: number }) => shown(id),
    ),
  ];
};
