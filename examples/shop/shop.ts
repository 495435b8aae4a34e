// Receives the webhooks of a payment provider and creates a client for each payment.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PanelFailure, PanelUnreachable, Weir } from '@weir-panel/sdk';
import { deliver } from './delivery.js';
import { orderOf, WrongPayment } from './payment.js';
import { isSigned, keyOf } from './signature.js';

const MOST_BYTES = 64 * 1024;

const {
  WEIR_URL = '',
  WEIR_TOKEN = '',
  SHOP_SECRET = '',
  SHOP_INBOUNDS = '',
  SHOP_PORT = '8080',
} = process.env;
const weir = new Weir({
  url: WEIR_URL,
  token: WEIR_TOKEN,
  timeoutMs: 10_000,
  // Providers wait some seconds, and send again by themselves.
  retries: { most: 2, firstDelayMs: 200, mostDelayMs: 2_000 },
});
const key = keyOf(SHOP_SECRET);
const inboundIds = SHOP_INBOUNDS.split(',').map(Number);
if (!inboundIds.every((id) => Number.isInteger(id) && id > 0))
  throw new Error('SHOP_INBOUNDS must be ids of inbounds, such as 1,2');

/** Resolves with undefined for a body that is too large; no more of it is read. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Status and body of the answer. The provider takes 2xx as received, and sends again after anything else. */
async function answer(request: IncomingMessage): Promise<[number, object]> {
  if (request.method !== 'POST') return [405, { error: 'send a POST' }];
  const body = await bodyOf(request);
  if (!body) return [413, { error: `the body has more than ${MOST_BYTES} bytes` }];
  if (!isSigned(key, request.headers, body)) return [401, { error: 'the signature is wrong, or too old' }];
  try {
    const order = orderOf(body.toString());
    return order ? [200, await deliver(weir, inboundIds, order)] : [200, { ignored: true }];
  } catch (error) {
    if (error instanceof WrongPayment) return [422, { error: error.message }];
    if (error instanceof PanelFailure)
      console.error(`panel: ${error.code} ${error.message} (request ${error.requestId})`);
    else if (error instanceof PanelUnreachable) console.error(`panel: ${error.message}`);
    else throw error;
    return [503, { error: 'the order could not be delivered yet; send it again' }];
  }
}

const server = createServer((request, response) => {
  answer(request)
    .catch((error: unknown): [number, object] => {
      console.error(error);
      return [500, { error: 'internal error' }];
    })
    .then(([status, body]) => {
      // Of a body that is too large the rest is still on its way.
      if (!request.complete) response.setHeader('connection', 'close');
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
});
server.requestTimeout = 10_000;
server.listen(Number(SHOP_PORT), '127.0.0.1');
await once(server, 'listening');
console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
