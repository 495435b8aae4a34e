// XHTTP. Settings: XTLS/Xray-core discussion 4113.
import { annotate, bool, int, oneOf, openObject, optional, shape, text } from '../../../kernel/index.js';
import type { XhttpTransport } from '../entry/transport.js';
import { advanced, maybe, range, section } from '../form.js';
import { objectOf, pathAndHost, type Settings, type Transport } from './transport.js';
import { downloadOf } from './xhttp-download.js';
import { wayOf } from './xhttp-way.js';

/** What a client must know: of an inbound's settings, and of a client's own, such as `extra` of a link. */
export function xhttpOf(settings: Settings): XhttpTransport {
  const download = downloadOf(objectOf(settings['downloadSettings']));
  return { ...wayOf(settings), ...(download && { download }) };
}

const OBFUSCATED = { when: { field: 'xPaddingObfsMode' } };
const padding = advanced('Padding', {
  xPaddingBytes: annotate(maybe(range()), { unit: 'bytes' }).description(
    'of each request; 100-1000 if empty',
  ),
  xPaddingObfsMode: maybe(bool()).description('the padding is at another place than in older versions'),
  xPaddingKey: annotate(maybe(text()), OBFUSCATED),
  xPaddingHeader: annotate(maybe(text()), OBFUSCATED),
  xPaddingPlacement: annotate(maybe(text().example('queryInHeader')), OBFUSCATED),
  xPaddingMethod: annotate(maybe(text().example('repeat-x')), OBFUSCATED),
});
const placement = advanced('Placement', {
  uplinkHTTPMethod: maybe(text().example('POST')).description('method of requests that send'),
  sessionPlacement: maybe(text().example('path')).description('where the id of the session is'),
  sessionKey: maybe(text()),
  seqPlacement: maybe(text().example('path')).description('where the number of a request is'),
  seqKey: maybe(text()),
  uplinkDataPlacement: maybe(text().example('body')).description('where the data of a request is'),
  uplinkDataKey: maybe(text()),
  uplinkChunkSize: annotate(maybe(range()), { unit: 'bytes' }),
});
const posts = advanced('Requests', {
  noSSEHeader: maybe(bool()).description('replies do not say that they are events'),
  scMaxEachPostBytes: annotate(maybe(range()), { unit: 'bytes' }).description('longest request'),
  scMinPostsIntervalMs: annotate(maybe(range()), { unit: 'ms' }).description(
    'between two requests of a client',
  ),
  scMaxBufferedPosts: maybe(int()).description('requests of a connection that wait for earlier ones'),
  scStreamUpServerSecs: annotate(maybe(range()), { unit: 'seconds' }).description(
    'between two pieces of padding to a client that only sends',
  ),
});
const xmux = shape(
  advanced('Clients', {
    maxConcurrency: maybe(range()),
    maxConnections: maybe(range()),
    cMaxReuseTimes: maybe(range()),
    hMaxRequestTimes: maybe(range()),
    hMaxReusableSecs: annotate(maybe(range()), { unit: 'seconds' }),
    hKeepAlivePeriod: annotate(maybe(int()), { unit: 'seconds' }),
  }),
).unknown(true);

export const xhttp: Transport = {
  name: 'xhttp',
  title: 'XHTTP',
  alias: 'splithttp',
  keys: ['xhttpSettings', 'splithttpSettings'],
  settings: shape({
    ...pathAndHost,
    ...section('Transport', {
      mode: annotate(optional(oneOf('', 'auto', 'packet-up', 'stream-up', 'stream-one')), {
        initial: 'auto',
      }).description('how clients send; empty as auto'),
    }),
    ...padding,
    ...placement,
    ...posts,
    ...advanced('Clients', {
      noGRPCHeader: optional(bool()).description('clients send no header of gRPC with stream-up'),
      xmux: optional(xmux).description('how clients share connections'),
      downloadSettings: optional(openObject()).description(
        'another way down, as stream settings of a client',
      ),
    }),
  }).unknown(true),
  entry: xhttpOf,
};
