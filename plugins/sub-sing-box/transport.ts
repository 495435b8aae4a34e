// How an outbound travels. Source: sing-box.sagernet.org, shared, V2Ray transport.
import type { EntryTemplate, HttpHeaders, Transport } from '../inbounds/contract.js';
import type { JsonTemplate } from '../subscription/contract.js';

const EARLY_DATA_HEADER = 'Sec-WebSocket-Protocol';
/** What Xray reads from `?ed=` it takes away from the path; a query beside it stays. */
export interface Path {
  readonly path: string;
  readonly query: string;
  readonly earlyData: number;
}
export function pathOf(text: string): Path {
  const [path = '', ...rest] = text.split('?');
  const params = rest.join('?').split('&').filter(Boolean);
  const earlyData = Number(params.find((one) => /^ed=\d{1,6}$/.test(one))?.slice(3) ?? 0);
  return { path, query: params.filter((one) => !one.startsWith('ed=')).join('&'), earlyData };
}

const isEscaped = (path: string): boolean => !/%(?![\da-f]{2})/i.test(path);
/** Without the host, which has a place of its own. */
export function withoutHost(headers: HttpHeaders | undefined): Record<string, string> | undefined {
  const kept = Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() !== 'host');
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
/** The name that a client program puts into `Host` where the inbound names none. */
export const askedName = ({ security }: Pick<EntryTemplate, 'security'>): string =>
  security.kind !== 'none' && typeof security.serverName === 'string' ? security.serverName : '';

/** ALPN that the transport needs, whatever the inbound offers beside it; undefined: as the inbound says. */
export function alpnFor(kind: Transport['kind']): readonly string[] | undefined {
  if (kind === 'ws' || kind === 'httpupgrade') return ['http/1.1'];
  return kind === 'grpc' ? ['h2'] : undefined;
}

/** Undefined for plain TCP. */
export function transportOf(entry: EntryTemplate): JsonTemplate {
  const { transport } = entry;
  switch (transport.kind) {
    case 'ws': {
      const { path, earlyData } = pathOf(transport.path);
      const host = transport.host || askedName(entry);
      const headers = { ...(host !== '' && { Host: host }), ...withoutHost(transport.headers) };
      return {
        type: 'ws',
        path: path || '/',
        headers: Object.keys(headers).length > 0 ? headers : undefined,
        ...(earlyData > 0 && { max_early_data: earlyData, early_data_header_name: EARLY_DATA_HEADER }),
      };
    }
    case 'httpupgrade':
      return {
        type: 'httpupgrade',
        host: transport.host || askedName(entry) || undefined,
        path: pathOf(transport.path).path || '/',
        headers: withoutHost(transport.headers),
      };
    case 'grpc':
      return { type: 'grpc', service_name: transport.serviceName };
    case 'tcp': {
      if (!transport.http) return undefined;
      const { host, paths, method = 'GET', headers = {} } = transport.http;
      const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host');
      return {
        type: 'http',
        host: host === '' ? undefined : [host],
        path: paths[0] || '/',
        method,
        headers: kept.length > 0 ? Object.fromEntries(kept) : undefined,
      };
    }
    default:
      return undefined;
  }
}

/** Why sing-box has no such transport. */
export function cannotTravel(entry: EntryTemplate): string | undefined {
  const { transport, security } = entry;
  switch (transport.kind) {
    case 'xhttp':
      return 'sing-box has no XHTTP';
    case 'kcp':
      return 'sing-box has no mKCP';
    case 'own':
      return `sing-box has no ${entry.account.protocol} over a transport of its own`;
    case 'tcp':
      if (transport.http && security.kind !== 'none')
        return 'sing-box has no HTTP/1.1 header under TLS: it speaks HTTP/2 there';
      return isEscaped(transport.http?.paths[0] ?? '') ? undefined : 'its path has a broken escape';
    case 'ws':
    case 'httpupgrade': {
      if (!isEscaped(transport.path)) return 'its path has a broken escape';
      return pathOf(transport.path).query === '' ? undefined : 'sing-box sends no query with its path';
    }
    case 'grpc':
      if (transport.serviceName.startsWith('/')) return 'sing-box has no gRPC path of its own';
      return transport.authority === '' || transport.authority === askedName(entry)
        ? undefined
        : 'sing-box has no gRPC authority of its own';
  }
}
