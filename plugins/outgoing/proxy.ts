// The proxy of `WEIR_OUTGOING_PROXY`: HTTP CONNECT (RFC 9110, 9.3.6) or SOCKS 5 (RFC 1928,
// RFC 1929).
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ipv6Groups } from '../../kernel/index.js';
import { type Destination, nameOf } from './destination.js';

export interface ProxyServer {
  readonly kind: 'http' | 'https' | 'socks5' | 'socks5h';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
}

const PORTS = { http: 80, https: 443, socks5: 1080, socks5h: 1080 } as const;
const LONGEST_HEAD = 16 * 1024;

/** Returns undefined for anything but `http://`, `https://`, `socks5://` or `socks5h://` with a host. */
export function proxyOf(text: string): ProxyServer | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const kind = url?.protocol.slice(0, -1) as ProxyServer['kind'] | undefined;
  if (!url || !kind || !(kind in PORTS) || url.hostname === '') return undefined;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const [username, password] = [url.username, url.password].map(decoded);
  if (username === undefined || password === undefined) return undefined;
  if (Buffer.byteLength(username) > 255 || Buffer.byteLength(password) > 255) return undefined;
  return { kind, host, port: url.port === '' ? PORTS[kind] : Number(url.port), username, password };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Whether the proxy resolves names, so that the addresses are unknown here. `socks5` gets addresses, as with curl. */
export const resolvesNames = ({ kind }: ProxyServer): boolean => kind !== 'socks5';

/** Reads exactly `length` bytes and leaves the rest in the socket. */
async function take(socket: Socket, length: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes?.length === length) return bytes;
    if (bytes !== null || socket.readableEnded) throw new Error('the proxy closed the connection');
    const over = new AbortController();
    try {
      const until = { signal: AbortSignal.any([signal, over.signal]) };
      await Promise.race([once(socket, 'readable', until), once(socket, 'end', until)]);
    } finally {
      over.abort();
    }
  }
}

async function askHttp(
  socket: Socket,
  proxy: ProxyServer,
  to: Destination,
  signal: AbortSignal,
): Promise<void> {
  const place = nameOf(to);
  const account =
    proxy.username === '' && proxy.password === ''
      ? ''
      : `Proxy-Authorization: Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}\r\n`;
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${account}\r\n`);
  let head = '';
  // Byte by byte: what follows the head belongs to the tunnel.
  while (!head.endsWith('\r\n\r\n')) {
    if (head.length > LONGEST_HEAD) throw new Error('the proxy answered with an endless head');
    head += (await take(socket, 1, signal)).toString('latin1');
  }
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) throw new Error('the proxy does not speak HTTP');
  if (!status.startsWith('2')) throw new Error(`the proxy answered ${status}`);
}

/** RFC 1928, 6. */
const REFUSALS = [
  '',
  'a failure of its own',
  'that its rules forbid it',
  'that the network is unreachable',
  'that the host is unreachable',
  'that the connection was refused',
  'that it took too long',
  'that it knows no CONNECT',
  'that it knows no such addresses',
];

function socksAddress({ host, port, isAddress }: Destination): Buffer {
  const end = Buffer.from([port >> 8, port & 255]);
  if (!isAddress) return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host, 'latin1'), end]);
  if (isIP(host) === 4) return Buffer.concat([Buffer.from([1, ...host.split('.').map(Number)]), end]);
  return Buffer.concat([
    Buffer.from([4]),
    Buffer.from(ipv6Groups(host).flatMap((group) => [group >> 8, group & 255])),
    end,
  ]);
}

async function askSocks(
  socket: Socket,
  proxy: ProxyServer,
  to: Destination,
  signal: AbortSignal,
): Promise<void> {
  const hasAccount = proxy.username !== '' || proxy.password !== '';
  socket.write(Buffer.from(hasAccount ? [5, 2, 0, 2] : [5, 1, 0]));
  const [version, method] = await take(socket, 2, signal);
  if (version !== 5) throw new Error('the proxy does not speak SOCKS 5');
  if (method === 2 && hasAccount) {
    const [user, word] = [Buffer.from(proxy.username), Buffer.from(proxy.password)];
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([word.length]), word]));
    if ((await take(socket, 2, signal))[1] !== 0) throw new Error('the proxy refuses user name or password');
  } else if (method !== 0) throw new Error('the proxy requires a user name and a password');
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), socksAddress(to)]));
  const [, reply = 1, , kind] = await take(socket, 4, signal);
  if (reply !== 0) throw new Error(`the proxy answered ${REFUSALS[reply] ?? `with code ${reply}`}`);
  const lengths: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
  const length = kind === 3 ? (await take(socket, 1, signal))[0] : lengths[kind ?? 0];
  if (length === undefined) throw new Error('the proxy does not speak SOCKS 5');
  await take(socket, length + 2, signal);
}

/** Connects to `to` through the proxy. Rejects with a message; the signal ends an attempt that takes too long. */
export async function throughProxy(
  proxy: ProxyServer,
  to: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const { kind, host, port } = proxy;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = kind === 'https' ? connectTls({ host, port, ...servername }) : connect({ host, port });
  try {
    await once(socket, kind === 'https' ? 'secureConnect' : 'connect', { signal });
    if (kind === 'http' || kind === 'https') await askHttp(socket, proxy, to, signal);
    else await askSocks(socket, proxy, to, signal);
    return socket;
  } catch (error) {
    socket.destroy();
    socket.on('error', () => undefined);
    throw error;
  }
}
