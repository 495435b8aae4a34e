// Transports as keys of a proxy. Source: wiki.metacubex.one, proxies, transport.
import type { HttpHeaders, HttpUpgradeTransport, Transport, WsTransport } from '../../inbounds/contract.js';
import { percentEncode } from '../../subscription/contract.js';
import type { Value } from '../yaml-text.js';
import { xhttpOptions } from './xhttp.js';

export type FixedKeys = Readonly<Record<string, Value>>;

/** Others would break the mapping, or the request. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,256}$/;
export function headersWith(host: string, headers: HttpHeaders = {}): FixedKeys | undefined {
  const all = Object.entries(headers).filter(([name]) => NAME.test(name));
  if (host) all.unshift(['Host', host]);
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}

/** Early data that the path asks for (`?ed=2048`), which mihomo takes as keys. */
export function earlyDataOf(path: string): { readonly path: string; readonly bytes: number } {
  const [bare = '', query = ''] = path.split(/\?(.*)/s);
  const params = query.split('&').filter(Boolean);
  const bytes = Number(params.find((param) => /^ed=\d{1,6}$/.test(param))?.slice('ed='.length) ?? 0);
  const rest = params.filter((param) => !param.startsWith('ed='));
  return { path: rest.length > 0 ? `${bare}?${rest.join('&')}` : bare, bytes };
}

export function wsOptions({ kind, path, host, headers }: WsTransport | HttpUpgradeTransport): FixedKeys {
  const early = earlyDataOf(path);
  return {
    path: early.path || '/',
    headers: headersWith(host, headers),
    ...(kind === 'httpupgrade'
      ? { 'v2ray-http-upgrade': true, 'v2ray-http-upgrade-fast-open': early.bytes > 0 || undefined }
      : early.bytes > 0 && {
          'max-early-data': early.bytes,
          'early-data-header-name': 'Sec-WebSocket-Protocol',
        }),
  };
}

/** As the core writes a name into its path. */
const segment = (name: string): string =>
  percentEncode(name).replaceAll(/%(?:24|26|2B|3A|3D|40)/g, decodeURIComponent);

/**
 * A name is the first part of the path, and `Tun` the second. One that begins with a slash is the whole path, with two
 * names for the second part (xtls.github.io, gRPC). mihomo takes a whole path since the end of 2025 (mihomo issue 2436).
 */
function serviceOf(name: string): string {
  if (!name.startsWith('/')) return segment(name) || '//Tun';
  const parts = name
    .slice(1)
    .split('/')
    .map((part, i, all) => (i < all.length - 1 ? part : (part.split('|')[0] ?? '')));
  const path = parts.map(segment);
  return path.length > 1 && path.at(-1) === 'Tun' ? path.slice(0, -1).join('/') : `/${path.join('/')}`;
}

/** `network` and its options. */
export function transportKeys(transport: Transport): FixedKeys {
  switch (transport.kind) {
    case 'tcp': {
      const { http } = transport;
      if (!http) return { network: 'tcp' };
      const headers = Object.fromEntries(
        Object.entries(http.headers ?? {}).filter(([name]) => NAME.test(name)),
      );
      return {
        network: 'http',
        'http-opts': {
          method: http.method || 'GET',
          path: http.paths.length > 0 ? http.paths : ['/'],
          headers: { ...headers, ...(http.host && { Host: http.host.split(',').map((one) => one.trim()) }) },
        },
      };
    }
    case 'ws':
    case 'httpupgrade':
      return { network: 'ws', 'ws-opts': wsOptions(transport) };
    case 'grpc':
      return { network: 'grpc', 'grpc-opts': { 'grpc-service-name': serviceOf(transport.serviceName) } };
    case 'xhttp':
      return { network: 'xhttp', 'xhttp-opts': xhttpOptions(transport) };
    default:
      throw new Error(`no words for ${transport.kind}`);
  }
}
