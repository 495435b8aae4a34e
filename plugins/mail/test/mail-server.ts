// A mail server of the tests, and servers that do not behave like one.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string;
  readonly secure: boolean;
  readonly text: string;
}

/** Resolves with its port and what it has received. It knows ada with the password `lovelace`. */
export async function mailServer(
  t: ExecutionContext,
  options: SMTPServerOptions = {},
): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password }, _, done) =>
      username === 'ada' && password === 'lovelace'
        ? done(null, { user: username })
        : done(Object.assign(new Error('5.7.8 wrong password'), { responseCode: 535 })),
    onData: (stream, { envelope, user, secure }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          user: String(user ?? ''),
          secure,
          text: Buffer.concat(parts).toString(),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (listening.address() as AddressInfo).port, received };
}

/** A server that talks as the test says. */
export async function oddServer(t: ExecutionContext, talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    talk(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers each line with the reply for its first word; other words get 250. */
export const replying =
  (replies: Readonly<Record<string, string>>) =>
  (socket: Socket): void => {
    socket.write(`${replies['greeting'] ?? '220 hello'}\r\n`);
    let isData = false;
    socket.on('data', (bytes) => {
      for (const line of String(bytes).split('\r\n').filter(Boolean)) {
        const word = line.split(/[\s:]/)[0]?.toUpperCase() ?? '';
        if (isData && line !== '.') continue;
        const reply = isData ? (replies['END'] ?? '250 taken') : (replies[word] ?? '250 fine');
        isData = !isData && word === 'DATA' && reply.startsWith('354');
        socket.write(`${reply}\r\n`);
      }
    });
  };
