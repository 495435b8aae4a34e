// XHTTP in the words of mihomo. Source: wiki.metacubex.one, proxies, transport, xhttp-opts.
import type { Transport, XhttpMux, XhttpTransport } from '../inbounds/contract.js';
import type { Fields } from './entry-fields.js';
import { headersIn } from './entry-words.js';
import { tlsSecurity } from './mihomo-security.js';

const TEXTS: readonly (readonly [key: string, field: keyof XhttpTransport])[] = [
  ['x-padding-bytes', 'xPaddingBytes'],
  ['x-padding-key', 'xPaddingKey'],
  ['x-padding-header', 'xPaddingHeader'],
  ['x-padding-placement', 'xPaddingPlacement'],
  ['x-padding-method', 'xPaddingMethod'],
  ['uplink-http-method', 'uplinkHTTPMethod'],
  ['session-placement', 'sessionIDPlacement'],
  ['session-key', 'sessionIDKey'],
  ['session-table', 'sessionIDTable'],
  ['session-length', 'sessionIDLength'],
  ['seq-placement', 'seqPlacement'],
  ['seq-key', 'seqKey'],
  ['uplink-data-placement', 'uplinkDataPlacement'],
  ['uplink-data-key', 'uplinkDataKey'],
  ['uplink-chunk-size', 'uplinkChunkSize'],
  ['sc-max-each-post-bytes', 'scMaxEachPostBytes'],
  ['sc-min-posts-interval-ms', 'scMinPostsIntervalMs'],
];
const REUSE = [
  ['max-concurrency', 'maxConcurrency'],
  ['max-connections', 'maxConnections'],
  ['c-max-reuse-times', 'cMaxReuseTimes'],
  ['h-max-request-times', 'hMaxRequestTimes'],
  ['h-max-reusable-secs', 'hMaxReusableSecs'],
] as const;

type Way = Omit<XhttpTransport, 'download'>;

function reuseOf(fields: Fields): XhttpMux {
  const period = fields.number('h-keep-alive-period');
  const ranges = REUSE.flatMap(([key, field]) => {
    const value = fields.text(key);
    return value === '' ? [] : [[field, value] as const];
  });
  return { ...Object.fromEntries(ranges), ...(period !== undefined && { hKeepAlivePeriod: period }) };
}

function wayOf(fields: Fields | undefined, base: Partial<Way> = {}): Way {
  if (!fields) return { kind: 'xhttp', path: '/', host: '' };
  const { host, headers } = headersIn(fields.headers('headers'));
  const texts = TEXTS.flatMap(([key, field]) => {
    const value = fields.text(key);
    return value === '' ? [] : [[field, value] as const];
  });
  const reuse = fields.inside('reuse-settings');
  return {
    ...base,
    kind: 'xhttp',
    path: fields.text('path') || base.path || '/',
    host: fields.text('host') || host || base.host || '',
    ...(headers && { headers }),
    ...Object.fromEntries(texts),
    ...(fields.flag('x-padding-obfs-mode') && { xPaddingObfsMode: true }),
    ...(fields.flag('no-grpc-header') && { noGRPCHeader: true }),
    ...(reuse && { xmux: reuseOf(reuse) }),
  };
}

export function mihomoXhttp(fields: Fields | undefined): Transport {
  const mode = (fields?.text('mode') ?? '') as NonNullable<XhttpTransport['mode']>;
  const way = { ...wayOf(fields), ...(mode && { mode }) };
  const download = fields?.inside('download-settings');
  if (!download) return way;
  const isSecure = download.flag('tls');
  return {
    ...way,
    download: {
      server: download.required('server'),
      port: download.port('port'),
      // Keys that are not there are those of the way up.
      transport: wayOf(download, way),
      security: isSecure ? tlsSecurity(download, ['servername']) : { kind: 'none' },
    },
  };
}
