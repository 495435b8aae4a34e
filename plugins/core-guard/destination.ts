// Parses a destination of the core's config as the core does (infra/conf/vless.go and trojan.go,
// fallbacks; infra/conf/transport_internet.go, REALITYConfig; Go's net.SplitHostPort and net.Dial).
import { hostOf, isHere, reachOf } from './address.js';
import { isSocket } from './socket-name.js';

export type Destination =
  | { readonly kind: 'address'; readonly address: string; readonly port: number }
  | { readonly kind: 'name'; readonly name: string; readonly port: number }
  /** a Unix socket: a path, or `@` and a name in the abstract namespace of Linux */
  | { readonly kind: 'socket'; readonly path: string }
  /** this machine, at a port that others choose */
  | { readonly kind: 'machine'; readonly address: string }
  /** the core dials nothing */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unreadable' };

const UNREADABLE = { kind: 'unreadable' } as const;
const portOf = (text: string): number | undefined => {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined;
};

export function placeOf(host: string, portText: string): Destination {
  const port = portOf(portText);
  const read = hostOf(host);
  if (port === undefined || !read) return UNREADABLE;
  return 'name' in read ? { kind: 'name', ...read, port } : { kind: 'address', ...read, port };
}

/** A host at any port; nothing that matters unless it is this machine. */
export function hostAlone(host: string): Destination {
  const read = hostOf(host.trim());
  if (!read) return UNREADABLE;
  return 'address' in read && reachOf(read.address) === 'own'
    ? { kind: 'machine', address: read.address }
    : { kind: 'nothing' };
}

/** A port, `host:port`, or a Unix socket. Go accepts more (`+2053`, names of services), which is not needed. */
export function destinationOf(value: unknown): Destination {
  if (value === undefined || value === null || value === '') return { kind: 'nothing' };
  if (typeof value === 'number') return placeOf('localhost', String(value));
  if (typeof value !== 'string') return UNREADABLE;
  if (isSocket(value)) return { kind: 'socket', path: value };
  // A fallback of this name has the type `serve`, which Go cannot dial.
  if (value === 'serve-ws-none') return { kind: 'nothing' };
  if (/^\d+$/.test(value)) return placeOf('localhost', value);
  const [, bracketed, plain = '', port = ''] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(value) ?? [];
  return placeOf(bracketed ?? plain, port);
}

/** Returns a key that an entry of `WEIR_FALLBACK_DESTINATIONS` shares with the destinations that it allows. */
export function nameOf(destination: Destination): string {
  if (destination.kind === 'socket') return destination.path;
  if (destination.kind === 'name') return `${destination.name}:${destination.port}`;
  if (destination.kind !== 'address') return '';
  const { address, port } = destination;
  if (isHere(address)) return `127.0.0.1:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
