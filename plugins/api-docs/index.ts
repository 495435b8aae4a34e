import {
  definePlugin,
  Listeners,
  openObject,
  optional,
  oneOf,
  payload,
  route,
  shape,
  unwrapped,
} from '../../kernel/index.js';
import { OpenApiWriter } from './openapi.js';

const VERSION = '0.1.0';
const MEDIA_TYPE = 'application/vnd.oai.openapi+json';
const asksForIt = (accept = ''): boolean =>
  accept.split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === MEDIA_TYPE);

export default definePlugin({
  name: 'api-docs',
  version: VERSION,
  api: 1,
  about: 'Describes the API of all enabled plugins as OpenAPI.',
  uses: { listeners: Listeners },
  routes: ({ listeners, log }) => {
    const told = new Set<string>();
    const report = (problem: string): void => {
      if (told.has(problem)) return;
      told.add(problem);
      log.warn('a part of the API cannot be described', { problem });
    };
    const writer = new OpenApiWriter(report);
    return [
      route({
        method: 'GET',
        path: '/panel/api/openapi.json',
        name: 'system.openApi',
        doc: 'Returns this API as an OpenAPI 3.1 document; without the envelope for raw=1, or when the Accept header asks for that media type.',
        query: shape({ raw: optional(oneOf('0', '1')) }),
        reply: payload(openObject(), { unwrappedAs: MEDIA_TYPE }),
        handle: async ({ query, headers }) => {
          const document: Record<string, unknown> = {
            ...(await writer.write(listeners.routes(), {
              basePath: listeners.panel.basePath,
              version: VERSION,
            })),
          };
          return query.raw === '1' || asksForIt(headers.accept) ? unwrapped(document) : document;
        },
      }),
    ];
  },
});
