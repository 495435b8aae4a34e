import { randomUUID } from 'node:crypto';
import { Weir } from '@weir-panel/sdk';

const weir = new Weir({
  url: process.env.WEIR_URL ?? '',
  token: process.env.WEIR_TOKEN ?? '',
  timeoutMs: 20_000,
  retries: { most: 5, firstDelayMs: 200, mostDelayMs: 10_000 },
});

// Reading is sent again by itself. A change is sent again only with a key, under which the panel does it once.
const orderId = process.env.ORDER_ID ?? randomUUID();
const message = await weir.clients.update(
  { email: 'ann@example.com', body: { comment: `order ${orderId}` } },
  { idempotencyKey: `comment-${orderId}`, signal: AbortSignal.timeout(60_000) },
);
console.log(message);
