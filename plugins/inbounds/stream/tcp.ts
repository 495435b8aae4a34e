// Plain TCP (the core's `raw`), bare or behind the pretence of an HTTP exchange. Settings: xtls.github.io, RAW transport.
import { oneOf, openObject, optional, shape } from '../../../kernel/index.js';
import { headerHost, objectOf, type Settings, textsOf, type Transport, words } from './transport.js';

const httpHeader = ({ header }: Settings): Settings | undefined =>
  objectOf(header)['type'] === 'http' ? objectOf(header) : undefined;

/** Undefined without the pretence. */
export function pretendedHttp(settings: Settings): { host: string; path: string | undefined } | undefined {
  const header = httpHeader(settings);
  if (!header) return undefined;
  const request = objectOf(header['request']);
  return {
    path: textsOf(request['path'])[0],
    host: headerHost(objectOf(header['response'])['headers']) || headerHost(request['headers']),
  };
}

export const tcp: Transport = {
  name: 'tcp',
  alias: 'raw',
  keys: ['tcpSettings', 'rawSettings'],
  settings: shape({
    header: optional(
      shape({
        type: optional(oneOf('none', 'http')),
        request: optional(shape({ path: optional(words()), headers: optional(openObject()) }).unknown(true)),
        response: optional(openObject()),
      }).unknown(true),
    ),
  }).unknown(true),
  query(settings) {
    const http = pretendedHttp(settings);
    return http
      ? { headerType: 'http', host: http.host, ...(http.path !== undefined && { path: http.path }) }
      : {};
  },
  vmess(settings) {
    const http = pretendedHttp(settings);
    return http ? { type: 'http', host: http.host, ...(http.path !== undefined && { path: http.path }) } : {};
  },
};
