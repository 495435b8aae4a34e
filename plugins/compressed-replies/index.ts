// Compresses JSON for programs, which ask for it in their request: panels that manage this one, scripts, exporters.
import { constants } from 'node:zlib';
import compression from 'compression';
import type { Request } from 'express';
import { authenticate, definePlugin, stage, tap } from '../../kernel/index.js';

const JSON_TYPE = /^application\/json\b/;
/** What this would compress with; for a caller that takes neither, each reply would pass its wrappers in vain. */
const TAKEN = /\b(?:gzip|br)\b/;
/** A packet of the network holds less. */
const LEAST_BYTES = 1_400;

const compress = compression({
  threshold: LEAST_BYTES,
  // The least effort has most of the effect. A brotli window of 256 KiB, because each reply under way holds one.
  level: constants.Z_BEST_SPEED,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 } },
  // Of other types, some are sent line by line as they come, and others are packed already.
  filter: (_, response) => JSON_TYPE.test(String(response.getHeader('Content-Type'))),
});

export default definePlugin({
  name: 'compressed-replies',
  version: '0.1.0',
  api: 1,
  about: 'Compresses JSON replies for programs with an API token or a certificate.',
  taps: () => [
    // Not for sessions: pages of others can make a browser send requests with a cookie, and the length of a compressed
    // reply tells whether it contains what the request contained (BREACH).
    tap(
      authenticate,
      ({ request }) => {
        const { res: response } = request as Request;
        if (response && TAKEN.test(String(request.headers['accept-encoding'] ?? '')))
          compress(request as Request, response, () => undefined);
        return undefined;
      },
      { stage: stage.FIRST },
    ),
  ],
});
