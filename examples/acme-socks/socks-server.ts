// The program: `socks-server.js <host> <port> <API port>`, with the secret of its API in ACME_SECRET. It begins without
// users; the panel puts them, changes them and reads what they moved.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Socks5Server } from '@pondwader/socks5-server';

/** About 100,000 users. */
const LARGEST_BODY = 16 * 1024 * 1024;

interface User {
  password: string;
  up: number;
  down: number;
  readonly open: Set<Duplex>;
}
type Row = readonly [name: string, password: string];

const [, , host = '127.0.0.1', port = '0', apiPort = '0'] = process.argv;
const users = new Map<string, User>();

function put([name, password]: Row): void {
  const user = users.get(name);
  if (user && user.password !== password) close(user);
  if (user) user.password = password;
  else users.set(name, { password, up: 0, down: 0, open: new Set() });
}
function remove(name: string): void {
  const user = users.get(name);
  users.delete(name);
  if (user) close(user);
}
function close({ open }: User): void {
  for (const socket of open) socket.destroy();
}

function relay(user: User, client: Duplex, target: Socket): void {
  const both = [client, target];
  for (const socket of both) {
    user.open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      user.open.delete(socket);
      for (const other of both) other.destroy();
    });
  }
  client.on('data', (chunk: Buffer) => void (user.up += chunk.length));
  target.on('data', (chunk: Buffer) => void (user.down += chunk.length));
  client.pipe(target).pipe(client);
}

new Socks5Server()
  .setAuthHandler(({ username, password }) => users.get(username)?.password === password)
  .setConnectionHandler(({ socket, username = '', destAddress, destPort }, sendStatus) => {
    const target = connect(destPort, destAddress);
    // One client that goes away too early, or a name that does not exist, must not end the program.
    socket.on('error', () => undefined);
    socket.once('close', () => target.destroy());
    const refuse = (): void => sendStatus('HOST_UNREACHABLE');
    target.once('error', refuse).on('error', () => undefined);
    target.once('connect', () => {
      target.off('error', refuse);
      const user = users.get(username);
      if (!user) return void [socket, target].map((one) => one.destroy());
      sendStatus('REQUEST_GRANTED');
      relay(user, socket, target);
    });
  })
  .listen(Number(port), host);

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if ((size += chunk.length) > LARGEST_BODY) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString() || 'null');
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // First: every user of this machine can call the port.
  if (request.headers.authorization !== process.env['ACME_SECRET']) return void response.writeHead(401).end();
  const body = await bodyOf(request);
  if (request.method === 'PUT') {
    const wanted = new Map(body as readonly Row[]);
    for (const name of users.keys()) if (!wanted.has(name)) remove(name);
    for (const row of wanted) put(row);
  } else if (request.method === 'POST') {
    const { rows, gone } = body as { rows: readonly Row[]; gone: readonly string[] };
    for (const name of gone) remove(name);
    for (const row of rows) put(row);
  }
  response.end(JSON.stringify([...users].map(([name, { up, down }]) => [name, up, down])));
}
createServer((request, response) =>
  answer(request, response).catch(() => {
    if (!response.headersSent) response.writeHead(400);
    response.end();
  }),
).listen(Number(apiPort), '127.0.0.1');
