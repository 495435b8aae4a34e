// Calls over a connection that fails: what is sent again, what is not, and what the panel makes of it.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine } from '../../test/harness/fake-engine.js';
import { freePort, TestPanel } from '../../test/harness/panel.js';
import { until } from '../../test/harness/until.js';
import { PanelFailure, PanelUnreachable, Weir } from '../index.js';
import { delayBefore, retriesOf, retryAfterOf } from '../retry.js';

/** What happens to the next requests, in order; afterwards all are passed on. */
type Mishap =
  | 'refuse' // the connection breaks before the panel gets the request
  | 'lose' // the panel does it, and the reply is lost
  | 'silence' // nothing ever comes
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A proxy in front of a real panel. */
async function unreliable(t: ExecutionContext, panelUrl: string) {
  const mishaps: Mishap[] = [];
  const seen: string[] = [];
  const pass = (from: IncomingMessage, answer: (reply: IncomingMessage) => void): void => {
    const url = new URL(panelUrl);
    from.pipe(
      request(
        { host: url.hostname, port: url.port, method: from.method, path: from.url, headers: from.headers },
        answer,
      ),
    );
  };
  const server = createServer((from: IncomingMessage, to: ServerResponse) => {
    seen.push(`${from.method} ${from.url?.split('/').at(-1)} ${from.headers['idempotency-key'] ?? '-'}`);
    const mishap = mishaps.shift();
    if (mishap === 'silence') return;
    if (mishap === 'refuse') return void from.destroy();
    if (mishap === 'lose')
      return pass(from, (reply) => void reply.resume().on('end', () => void to.destroy()));
    if (mishap) return void to.writeHead(mishap.status, mishap.headers).end(mishap.body ?? '');
    pass(from, (reply) => void reply.pipe(to.writeHead(reply.statusCode ?? 500, reply.headers)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => (server.close(), server.closeAllConnections()));
  const { pathname } = new URL(panelUrl);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`, mishaps, seen };
}

const QUICK = { firstDelayMs: 1, mostDelayMs: 2_000 };

async function setUp(t: ExecutionContext, retries: object = QUICK) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'sdk' },
  });
  const { id } = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort() },
  });
  const proxy = await unreliable(t, panel.url);
  const weir = new Weir({ url: proxy.url, token, retries });
  const add = (email: string) => ({ body: { client: { email }, inboundIds: [id] } });
  const count = async (): Promise<number> => (await weir.clients.list()).total;
  return { ...proxy, panel, token, weir, add, count };
}

test('a GET is sent again after each failure that passes, and no more often than allowed', async (t) => {
  const { weir, mishaps, seen, count } = await setUp(t);
  mishaps.push('refuse', { status: 502, body: '<html>' }, { status: 503, headers: { 'retry-after': '0' } });
  t.is(await count(), 0);
  t.is(seen.length, 4);
  mishaps.push('refuse', 'refuse', 'refuse', 'refuse', 'refuse');
  const gone = await t.throwsAsync(weir.clients.list(), { instanceOf: PanelUnreachable });
  t.like(gone, { reason: 'network', mayBeDone: false });
  t.regex(gone.message, /^GET \/panel\/api\/clients\/list\/paged: no complete reply \(/);
  t.is(seen.length, 8);
});

test('a POST without a key is sent once, whatever happens', async (t) => {
  const { weir, mishaps, seen, add, count } = await setUp(t);
  mishaps.push('lose');
  t.true((await t.throwsAsync(weir.clients.add(add('ann')), { instanceOf: PanelUnreachable })).mayBeDone);
  mishaps.push({ status: 503, headers: { 'retry-after': '0' }, body: '{}' });
  t.is((await t.throwsAsync(weir.clients.add(add('bob')), { instanceOf: PanelFailure })).status, 503);
  t.deepEqual(seen, ['POST add -', 'POST add -']);
  t.is(await count(), 1);
});

test('a POST with a key whose reply is lost is sent again and done once', async (t) => {
  const { weir, mishaps, seen, add, count } = await setUp(t);
  mishaps.push('lose', { status: 504 });
  t.is(await weir.clients.add(add('ann'), { idempotencyKey: 'order-17' }), 'client added');
  t.deepEqual(seen, Array(3).fill('POST add order-17'));
  t.is(await count(), 1);
  const other = await t.throwsAsync(weir.clients.add(add('bob'), { idempotencyKey: 'order-17' }), {
    instanceOf: PanelFailure,
  });
  t.is(other.code, 'IDEMPOTENCY_OTHER_REQUEST');
  t.is(await count(), 1);
});

test('a refusal is not repeated, and neither is a full store of replies', async (t) => {
  const { weir, mishaps, seen, add } = await setUp(t);
  const key = { idempotencyKey: randomUUID() };
  await t.throwsAsync(weir.clients.add({ body: { client: { email: 'a b' }, inboundIds: [1] } }, key), {
    instanceOf: PanelFailure,
    message: /email/,
  });
  t.is(seen.length, 1);
  mishaps.push({ status: 429, body: '{"code":"IDEMPOTENCY_TOO_MANY"}' });
  await t.throwsAsync(weir.clients.add(add('ann'), key), { instanceOf: PanelFailure });
  t.is(seen.length, 2);
});

test('a wait that the panel asks for is respected, and one that is too long ends the call', async (t) => {
  const { weir, mishaps, seen } = await setUp(t);
  mishaps.push({ status: 429, headers: { 'retry-after': '3600' }, body: '{"msg":"later"}' });
  const late = await t.throwsAsync(weir.clients.list(), { instanceOf: PanelFailure, message: 'later' });
  t.is(late.retryAfterMs, 3_600_000);
  t.is(seen.length, 1);
  const failure = (retryAfterMs?: number) => new PanelFailure(503, {}, retryAfterMs);
  const retries = retriesOf({ firstDelayMs: 100, mostDelayMs: 400 });
  t.is(delayBefore(1, failure(300), retries), 300);
  t.is(delayBefore(1, failure(401), retries), undefined);
  for (const [attempt, most] of [
    [1, 100],
    [2, 200],
    [3, 400],
  ] as const) {
    const delay = delayBefore(attempt, failure(), retries) ?? 0;
    t.true(delay >= most / 2 && delay <= most, `${delay}`);
  }
  t.is(delayBefore(4, failure(), retries), undefined);
  t.is(delayBefore(1, new PanelFailure(500, {}), retries), undefined);
  const now = Date.parse('2026-01-01T00:00:00Z');
  for (const [text, ms] of [
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Thu, 01 Jan 2025 00:00:05 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
  ] as const)
    t.is(retryAfterOf(new Headers({ 'retry-after': text }), now), ms, text);
});

test('a time limit ends an attempt, and the next one succeeds', async (t) => {
  const { weir, mishaps, seen, add, count } = await setUp(t);
  mishaps.push('silence');
  t.is((await weir.clients.list(undefined, { timeoutMs: 300 })).total, 0);
  t.is(seen.length, 2);
  mishaps.push('silence');
  const slow = await t.throwsAsync(weir.clients.add(add('ann'), { timeoutMs: 50 }), {
    instanceOf: PanelUnreachable,
  });
  t.like(slow, { reason: 'timeout', mayBeDone: true });
  t.regex(slow.message, /no reply within 50 ms/);
  t.is(await count(), 0);
});

test('a signal ends a call while it runs, and while it waits', async (t) => {
  const { url, token, weir, mishaps, seen } = await setUp(t);
  mishaps.push('silence');
  const running = new AbortController();
  const call = weir.clients.list({}, { signal: running.signal });
  await until(() => seen.length === 1, 'the request arrives');
  running.abort(new Error('enough'));
  await t.throwsAsync(call, { message: 'enough' });
  t.is(seen.length, 1);

  const patient = new Weir({ url, token, retries: { firstDelayMs: 1e9, mostDelayMs: 1e9 } });
  mishaps.push('refuse');
  const waiting = new AbortController();
  const delayed = patient.clients.list({}, { signal: waiting.signal });
  await until(() => seen.length === 2, 'the request arrives');
  waiting.abort(new Error('also enough'));
  await t.throwsAsync(delayed, { message: 'also enough' });
  await t.throwsAsync(patient.clients.list({}, { signal: waiting.signal }), { message: 'also enough' });
  t.is(seen.length, 2);
});

test('a wrong option is named before anything is sent', async (t) => {
  for (const [options, message] of [
    [{ url: 'panel.example.com' }, /^url must be/],
    [{ url: 'ftp://panel.example.com' }, /^url must be/],
    [{ url: 'https://ann:secret@panel.example.com' }, /^url must be/],
    [{ url: 'https://panel.example.com/?a=1' }, /^url must be/],
    [{ url: 'https://x', token: 'a\nb' }, /^token must be/],
    [{ url: 'https://x', timeoutMs: 0 }, /^timeoutMs must be a number from 1/],
    [{ url: 'https://x', retries: { most: 11 } }, /^retries\.most must be a number from 0 to 10, not 11/],
    [{ url: 'https://x', retries: { firstDelayMs: Number.NaN } }, /^retries\.firstDelayMs/],
  ] as const)
    t.throws(() => new Weir(options), { instanceOf: TypeError, message });
  const { weir, seen, add } = await setUp(t);
  for (const key of ['', 'a b', 'a,b', '"a"', 'ä', 'x'.repeat(256)])
    await t.throwsAsync(weir.clients.add(add('ann'), { idempotencyKey: key }), {
      instanceOf: TypeError,
      message: /^idempotencyKey must be/,
    });
  await t.throwsAsync(weir.clients.list({}, { idempotencyKey: 'x' } as object), { message: /takes none/ });
  await t.throwsAsync(weir.clients.list({}, { timeoutMs: -1 }), { message: /^timeoutMs must be/ });
  t.deepEqual(seen, []);
});
