import { fileURLToPath } from 'node:url';
import {
  definePlugin,
  Listeners,
  openObject,
  optional,
  oneOf,
  payload,
  route,
  shape,
  staticFiles,
  TimeSlice,
  unwrapped,
} from '../../kernel/index.js';
import { OpenApiWriter } from './openapi.js';

const VERSION = '0.1.0';
const MEDIA_TYPE = 'application/vnd.oai.openapi+json';
/** Only what comes from this panel; Swagger UI draws its arrows as images in its style. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'none'",
};
const asksForIt = (accept = ''): boolean =>
  accept.split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === MEDIA_TYPE);

export default definePlugin({
  name: 'api-docs',
  version: VERSION,
  api: 1,
  about: 'Describes the API of all enabled plugins as OpenAPI, and shows it on a page.',
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
          // The text of some MB is made in one piece.
          await new TimeSlice().next();
          return query.raw === '1' || asksForIt(headers.accept) ? unwrapped(document) : document;
        },
      }),
      staticFiles({
        path: '/panel/x/api-docs/',
        folder: fileURLToPath(new URL('./page', import.meta.url)),
        policy: POLICY,
        // The files are those of every Weir. The document asks for a login, which the page offers.
        auth: 'anyone',
        doc: 'A page that shows this API and tries its calls.',
      }),
    ];
  },
});
