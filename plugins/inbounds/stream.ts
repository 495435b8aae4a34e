// `streamSettings`: how the bytes of a protocol travel. Checked here, kept as they came.
import { inspect, type Issue, oneOf, openObject, optional, shape, text } from '../../kernel/index.js';

export const NETWORKS = ['tcp', 'ws'] as const;

// The core calls tcp `raw` as well; links and replies say tcp.
const Stream = shape({
  network: optional(oneOf(...NETWORKS)),
  security: optional(oneOf('none')),
  tcpSettings: optional(shape({ header: optional(shape({ type: optional(oneOf('none')) }).unknown(true)) }).unknown(true)),
  wsSettings: optional(shape({ path: optional(text().pattern(/^[^\s\p{Cc}\p{Cs}]*$/u, 'path without spaces')), host: optional(text().pattern(/^[^\s\p{Cc}\p{Cs}]*$/u, 'host without spaces')), headers: optional(openObject()) }).unknown(true)),
}).unknown(true);

export interface StreamView {
  readonly network: (typeof NETWORKS)[number];
  readonly security: 'none';
  readonly path: string;
  readonly host: string;
}

/** Problems, with paths below `streamSettings`. */
export function streamIssues(stream: unknown): Issue[] {
  const result = inspect(Stream, stream);
  return 'issues' in result ? result.issues.map(({ path, message }) => ({ path: `streamSettings.${path}`, message: `streamSettings.${message}` })) : [];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The Host header that a client program shall send: the setting of its own, or one among the headers. */
function hostOf(ws: Readonly<Record<string, unknown>>): string {
  const own = textOf(ws['host']);
  if (own !== '') return own;
  const headers = (ws['headers'] ?? {}) as Record<string, unknown>;
  return textOf(Object.entries(headers).find(([name]) => name.toLowerCase() === 'host')?.[1]);
}

/** What links and other formats say of a stream that has passed `streamIssues`. */
export function viewStream(stream: Readonly<Record<string, unknown>>): StreamView {
  const network = (stream['network'] ?? 'tcp') as StreamView['network'];
  const ws = (stream['wsSettings'] ?? {}) as Record<string, unknown>;
  return { network, security: 'none', path: textOf(ws['path']) || '/', host: hostOf(ws) };
}
