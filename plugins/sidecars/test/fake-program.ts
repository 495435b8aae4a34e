// The program of the tests' sidecar: `fake-program.js <inbound port> <API port> <secret> <mode>`. Tests move bytes through
// it by a call. In the mode `files` it reads its users from users.json and has no calls for them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as listen } from 'node:net';
import { readFileSync } from 'node:fs';

const [, , inboundPort = '0', apiPort = '0', secret = '', mode = 'live'] = process.argv;
type Moved = { up: number; down: number };
const users = new Map<string, string>();
const counters = new Map<string, Moved>();
/** number of calls that named all users, and of those that named some */
const calls = { whole: 0, some: 0 };
let behaviour = process.env['BEHAVIOUR'] ?? '';

if (behaviour === 'stubborn') process.on('SIGTERM', () => undefined);
if (mode === 'dies') {
  process.stdout.write('error: this program does not want to run\n');
  process.exit(3);
}
if (mode === 'files')
  for (const [name, account] of JSON.parse(readFileSync('users.json', 'utf8')) as [string, string][])
    users.set(name, account);

async function bodyOf(request: IncomingMessage): Promise<never> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || 'null') as never;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = `${request.method} ${request.url}`;
  const body = await bodyOf(request);
  const send = (value: unknown): void => void response.end(JSON.stringify(value));
  if (key === 'POST /move') {
    const { name, up, down } = body as Moved & { name: string };
    const { up: a, down: b } = counters.get(name) ?? { up: 0, down: 0 };
    counters.set(name, { up: a + up, down: b + down });
    return send({});
  }
  if (key === 'POST /behave') {
    behaviour = body as string;
    if (behaviour === 'flood') flood();
    return send({});
  }
  if (key === 'POST /forget') return send(users.delete(body as string));
  if (key === 'POST /remember') return send([...users.set(body as string, '')]);
  if (key === 'GET /calls') return send({ ...calls, users: [...users] });
  if (request.headers.authorization !== `Bearer ${secret}`) return void response.writeHead(401).end();
  if (behaviour === 'hang') return;
  if (key === 'GET /stats') {
    if (behaviour === 'endless') return endless(response);
    if (behaviour === 'nonsense') return send([1, null, { name: 'x' }]);
    if (behaviour === 'slow once') {
      behaviour = '';
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    // As a user who downloads all the time.
    if (behaviour === 'busy') for (const moved of counters.values()) moved.down += 1;
    if (behaviour === 'negative') return send([['i1.c1', { up: -5, down: 1.5 }]]);
    return send([...counters]);
  }
  if (behaviour === 'refuse') return void response.writeHead(500).end();
  if (key === 'GET /users') return send([...users]);
  if (key === 'PUT /users') {
    calls.whole += 1;
    const wanted = new Map(body as [string, string][]);
    for (const name of users.keys()) if (!wanted.has(name)) forget(name);
    for (const [name, account] of wanted) users.set(name, account);
    return send({});
  }
  if (key === 'POST /users') {
    calls.some += 1;
    const { put, gone } = body as { put: [string, string][]; gone: string[] };
    for (const name of gone) forget(name);
    for (const [name, account] of put) {
      if (users.get(name) !== account) counters.delete(name);
      users.set(name, account);
    }
    return send({});
  }
  response.writeHead(404).end();
}

/** The counter goes with its user. */
function forget(name: string): void {
  users.delete(name);
  counters.delete(name);
}

function endless(response: ServerResponse): void {
  const line = `"${'x'.repeat(1024 * 1024)}",`;
  const more = (): void => {
    while (!response.destroyed && response.write(line));
  };
  response.on('drain', more);
  more();
}

function flood(): void {
  const line = `${'y'.repeat(1024 * 1024)}\n`;
  let left = 300;
  const more = (): void => {
    if (left-- > 0) process.stdout.write(line, more);
  };
  more();
}

const inbound = listen((socket) => socket.on('error', () => undefined).pipe(socket));
inbound.on('error', (error) => {
  process.stdout.write(`error: cannot listen: ${error.message}\n`);
  process.exit(1);
});
inbound.listen(Number(inboundPort), '127.0.0.1', () =>
  createServer((request, response) => void answer(request, response)).listen(Number(apiPort), '127.0.0.1'),
);
