// Stands in for an mtg-multi with the API for secrets, which cannot be built from what is published as a Go module. It does
// what the README of github.com/mhsanaei/mtg-multi says of the API, and proxies nothing: tests move bytes by a call.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { createServer as listen } from 'node:net';

const config = readFileSync(process.argv[3] ?? '', 'utf8');
const textAt = (key: string): string => new RegExp(`^"${key}" = "([^"]*)"$`, 'm').exec(config)?.[1] ?? '';
const portOf = (key: string): number => Number(textAt(key).split(':').at(-1));
const [, section = ''] = config.split('["secrets"]\n');

interface Secret {
  readonly secret: string;
  readonly ad_tag?: string;
}
let secrets = new Map<string, Secret>(
  [...section.matchAll(/^"([^"]+)" = "([^"]+)"$/gm)].map(([, name = '', secret = '']) => [name, { secret }]),
);
const counters = new Map<string, { bytes_in: number; bytes_out: number }>();
const calls: string[] = [];

async function bodyOf(request: IncomingMessage): Promise<never> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || 'null') as never;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  const body = await bodyOf(request);
  const send = (status: number, value: unknown = {}): void =>
    void response.writeHead(status).end(JSON.stringify(value));
  if (url === '/move') {
    const { name, bytes_in: a, bytes_out: b } = body as { name: string; bytes_in: number; bytes_out: number };
    const { bytes_in, bytes_out } = counters.get(name) ?? { bytes_in: 0, bytes_out: 0 };
    counters.set(name, { bytes_in: bytes_in + a, bytes_out: bytes_out + b });
    return send(200);
  }
  if (url === '/calls') return send(200, { calls, secrets: [...secrets] });
  if (request.headers.authorization !== `Bearer ${textAt('api-token')}`) return send(401);
  if (method !== 'GET') calls.push(`${method} ${url}`);
  if (method === 'GET' && url === '/stats') return send(200, { users: Object.fromEntries(counters) });
  if (method === 'GET' && url === '/secrets') return send(200, { secrets: [...secrets.keys()] });
  if (method === 'PUT' && url === '/secrets') {
    secrets = new Map(Object.entries((body as { secrets: Record<string, Secret> }).secrets));
    return send(200, { status: 'ok' });
  }
  if (method === 'POST' && url === '/secrets') {
    const { name, ...secret } = body as Secret & { name: string };
    secrets.set(name, secret);
    return send(200, { status: 'ok' });
  }
  const [, name = ''] = /^\/secrets\/(.+)$/.exec(url) ?? [];
  if (method !== 'DELETE' || !secrets.has(name)) return send(404);
  if (secrets.size === 1) return send(409);
  secrets.delete(name);
  return send(200, { status: 'ok' });
}

createServer((request, response) => void answer(request, response)).listen(
  portOf('api-bind-to'),
  '127.0.0.1',
);
listen((socket) => socket.destroy()).listen(portOf('bind-to'), '127.0.0.1');
