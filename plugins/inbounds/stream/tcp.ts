// Plain TCP (the core's `raw`), bare or behind the pretence of an HTTP exchange. Settings: xtls.github.io, RAW transport.
import { annotate, oneOf, openObject, optional, shape } from '../../../kernel/index.js';
import type { TcpHttpHeader } from '../entry/transport.js';
import { advanced } from '../form.js';
import {
  behindProxy,
  headerHost,
  objectOf,
  type Settings,
  textOf,
  textsOf,
  type Transport,
  words,
} from './transport.js';

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

const asHttp = { when: { field: 'type', is: ['http'] } };
const header = shape(
  advanced('HTTP header', {
    type: annotate(optional(oneOf('none', 'http')), { initial: 'none' }).description(
      'http: connections begin like an exchange of HTTP',
    ),
    request: annotate(
      optional(
        shape(
          advanced('HTTP header', {
            path: optional(words()).description('paths, of which each connection takes one'),
            headers: optional(openObject()).description('lists of values by name, such as Host'),
          }),
        ).unknown(true),
      ),
      asHttp,
    ),
    response: annotate(optional(openObject()), asHttp),
  }),
).unknown(true);

export const tcp: Transport = {
  name: 'tcp',
  title: 'TCP',
  alias: 'raw',
  keys: ['tcpSettings', 'rawSettings'],
  settings: shape({
    ...behindProxy,
    ...advanced('Transport', { header: optional(header) }),
  }).unknown(true),
  entry(settings) {
    const http = httpHeader(settings);
    return { kind: 'tcp', ...(http && { http }) };
  },
};
