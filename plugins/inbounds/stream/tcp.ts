// Plain TCP (the core's `raw`), bare or behind the pretence of an HTTP exchange. Settings: xtls.github.io, RAW transport.
import { oneOf, openObject, optional, shape } from '../../../kernel/index.js';
import type { TcpHttpHeader } from '../entry/transport.js';
import { headerHost, objectOf, type Settings, textOf, textsOf, type Transport, words } from './transport.js';

/** Undefined without the pretence. */
function httpHeader({ header }: Settings): TcpHttpHeader | undefined {
  if (objectOf(header)['type'] !== 'http') return undefined;
  const request = objectOf(objectOf(header)['request']);
  const response = objectOf(objectOf(header)['response']);
  const method = textOf(request['method']);
  const headers = Object.entries(objectOf(request['headers']))
    .map(([name, value]) => [name, typeof value === 'string' ? [value] : textsOf(value)] as const)
    .filter(([name, values]) => values.length > 0 && name.toLowerCase() !== 'host');
  return {
    host: headerHost(response['headers']) || headerHost(request['headers']),
    paths: textsOf(request['path']),
    ...(method && { method }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
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
  entry(settings) {
    const http = httpHeader(settings);
    return { kind: 'tcp', ...(http && { http }) };
  },
};
