// XHTTP as keys of a proxy. Source: wiki.metacubex.one, proxies, transport, xhttp-opts.
import type { NumberRange, XhttpMux, XhttpTransport } from '../../inbounds/contract.js';
import type { Value } from '../yaml-text.js';
import { fixedSecurity } from './security.js';
import { type FixedKeys, headersWith } from './transport.js';

/** What mihomo does anyway. */
const UNSAID: Readonly<Record<string, string>> = {
  'sc-max-each-post-bytes': '1000000',
  'sc-min-posts-interval-ms': '30',
};

const text = (value: string | undefined): Value => value || undefined;
/** A single number, also one that is written as a text, stays a number: older programs take no text there. */
const number = (key: string, value: NumberRange | undefined): Value => {
  if (value === undefined || value === 0 || String(value) === UNSAID[key]) return undefined;
  return /^-?\d+$/.test(String(value)) ? Number(value) : value;
};
const range = (value: NumberRange | undefined): Value => (value === undefined ? undefined : String(value));

const reuse = (mux: XhttpMux): FixedKeys => ({
  'max-concurrency': range(mux.maxConcurrency),
  'max-connections': range(mux.maxConnections),
  'c-max-reuse-times': range(mux.cMaxReuseTimes),
  'h-max-request-times': range(mux.hMaxRequestTimes),
  'h-max-reusable-secs': range(mux.hMaxReusableSecs),
  'h-keep-alive-period': mux.hKeepAlivePeriod || undefined,
});

const padding = (way: Way): FixedKeys =>
  way.xPaddingObfsMode
    ? {
        'x-padding-obfs-mode': true,
        'x-padding-key': text(way.xPaddingKey),
        'x-padding-header': text(way.xPaddingHeader),
        'x-padding-placement': text(way.xPaddingPlacement),
        'x-padding-method': text(way.xPaddingMethod),
      }
    : {};

type Way = Omit<XhttpTransport, 'download'>;
const wayKeys = (way: Way): FixedKeys => ({
  path: way.path || '/',
  host: text(way.host),
  headers: headersWith('', way.headers),
  'no-grpc-header': way.noGRPCHeader || undefined,
  'x-padding-bytes': range(way.xPaddingBytes || undefined),
  ...padding(way),
  'uplink-http-method': text(way.uplinkHTTPMethod),
  'session-placement': text(way.sessionIDPlacement),
  'session-key': text(way.sessionIDKey),
  'session-table': text(way.sessionIDTable),
  'session-length': text(way.sessionIDLength),
  'seq-placement': text(way.seqPlacement),
  'seq-key': text(way.seqKey),
  'uplink-data-placement': text(way.uplinkDataPlacement),
  'uplink-data-key': text(way.uplinkDataKey),
  'uplink-chunk-size': number('uplink-chunk-size', way.uplinkChunkSize),
  'sc-max-each-post-bytes': number('sc-max-each-post-bytes', way.scMaxEachPostBytes),
  'sc-min-posts-interval-ms': number('sc-min-posts-interval-ms', way.scMinPostsIntervalMs),
  'reuse-settings': way.xmux && reuse(way.xmux),
});

export function xhttpOptions({ download, mode, ...way }: XhttpTransport): FixedKeys {
  return {
    mode: mode === 'auto' ? undefined : text(mode),
    ...wayKeys(way),
    // Keys that are not there are those of the way up, so each that differs must be said.
    'download-settings': download && {
      ...wayKeys(download.transport),
      server: download.server,
      port: download.port,
      ...fixedSecurity(download.security, download.server),
    },
  };
}
