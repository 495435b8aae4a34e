// A bad way to a node, in a process of its own: an HTTP proxy before its panel that waits, breaks calls off and repeats
// them. `node relay-process.js LISTEN_HOST LISTEN_PORT PANEL_HOST PANEL_PORT`; a message is its new `Weather`.
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAIR, type Weather } from './weather.js';

const [host = '', port = '', panelHost = '', panelPort = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
/** A repetition comes at most this much later. */
const LATE_MS = 4_000;
const LIMIT_MS = 120_000;
let weather: Weather = FAIR;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** `whole`: else only a part of the body is sent, and the connection is closed. */
function forward({ method, url, headers, body }: Asked, whole = true): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: panelHost,
        port: Number(panelPort),
        method,
        path: url,
        headers,
        agent: whole ? agent : false,
        timeout: LIMIT_MS,
      },
      (response) => {
        bodyOf(response).then(
          (read) => resolve({ status: response.statusCode ?? 502, headers: response.headers, body: read }),
          reject,
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.on('timeout', () => outgoing.destroy(new Error('the panel is silent')));
    if (whole) outgoing.end(body);
    else {
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)));
      setTimeout(() => outgoing.destroy(new Error('broken off')), 50);
    }
  });
}

const happens = (percent: number): boolean => Math.random() * 100 < percent;
const quietly = (work: Promise<unknown>): void => void work.catch(() => undefined);

async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked: Asked = {
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    headers: incoming.headers,
    body: await bodyOf(incoming),
  };
  const now = weather;
  if (now.delayMs > 0) await sleep(now.delayMs);
  if (now.isClosed) return void incoming.socket.destroy();
  if (happens(now.cut)) {
    // Before the panel has all of it, or when it has done it and nobody hears so.
    if (happens(50)) quietly(forward(asked, asked.body.length === 0));
    else await forward(asked).catch(() => undefined);
    return void incoming.socket.destroy();
  }
  if (happens(now.repeat)) {
    if (happens(50)) await forward(asked);
    // What changes something comes once more when newer changes have come.
    if (asked.method === 'POST') setTimeout(() => quietly(forward(asked)), Math.random() * LATE_MS);
  }
  const { status, headers, body } = await forward(asked);
  if (now.delayMs > 0) await sleep(now.delayMs);
  response.writeHead(status, headers);
  // In the middle of the reply.
  if (happens(now.cut / 2)) {
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    return void setTimeout(() => incoming.socket.destroy(), 20);
  }
  response.end(body);
}

const server = createServer((incoming, response) => {
  incoming.on('error', () => undefined);
  if (weather.isClosed) return void incoming.socket.destroy();
  // As without a relay: a panel that is dead closes the connection.
  pass(incoming, response).catch(() => incoming.socket.destroy());
});
server.keepAliveTimeout = LIMIT_MS;
server.listen(Number(port), host, () => process.send?.('ready'));
process.on('message', (given: Weather) => {
  weather = given;
  if (weather.isClosed) server.closeAllConnections();
  process.send?.('changed');
});
process.once('disconnect', () => process.exit());
