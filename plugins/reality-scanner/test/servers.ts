// Servers on loopback, good and bad, and names that lead to them.
import dns from 'node:dns';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { type CertificateOptions, issue, type Issued } from '../../../test/harness/self-signed.js';

type Teardown = Pick<ExecutionContext, 'teardown'>;

async function listen(t: Teardown, server: Server, host: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Certificates of one authority; `good` is for `good.example.com`. */
export function authority() {
  const root = issue({ name: 'Root', organisation: 'Test Trust', isAuthority: true });
  const between = issue({ name: 'Between', organisation: 'Test Trust', issuer: root, isAuthority: true });
  const leaf = (options: Partial<CertificateOptions> = {}): Issued =>
    issue({ name: 'good.example.com', hosts: ['good.example.com'], issuer: between, ...options });
  return { root, between, leaf };
}

export interface TlsServer {
  readonly port: number;
  /** names that clients asked for */
  readonly names: string[];
}
/** TLS 1.3 with h2, unless the options say something else. */
export async function tlsServer(t: Teardown, options: TlsOptions, host = '127.0.0.1'): Promise<TlsServer> {
  const names: string[] = [];
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name);
    done(null);
  };
  const server = createServer({ ALPNProtocols: ['h2', 'http/1.1'], SNICallback, ...options }, (socket) =>
    socket.on('error', () => undefined),
  );
  server.on('tlsClientError', () => undefined);
  return { port: await listen(t, server, host), names };
}

export const rawServer = (t: Teardown, answer: (socket: Socket) => void): Promise<number> =>
  listen(t, createTcpServer(answer), '127.0.0.1');

/** From now on, these names have these addresses in this process; an empty list never answers. */
export function nameServer(answers: Readonly<Record<string, readonly string[]>>): { asked: string[] } {
  const asked: string[] = [];
  const real = dns.lookup as (...args: unknown[]) => void;
  dns.lookup = ((name: string, options: unknown, done: unknown): void => {
    const found = answers[name];
    if (!found) {
      real(name, options, done);
      return;
    }
    asked.push(name);
    const list = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (list.length > 0) setImmediate(() => (done as (error: null, list: unknown) => void)(null, list));
  }) as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
  return { asked };
}
