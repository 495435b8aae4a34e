import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel, until } from '@weir-panel/weir/testing';
import callbacks from '../index.js';

const KEY = Buffer.alloc(24, 9);
const secret = `whsec_${KEY.toString('base64')}`;

interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that writes down what comes and answers as the test says, 204 by itself. */
async function openReceiver(
  t: ExecutionContext,
  answer: (response: ServerResponse, call: number) => void = (response) => response.writeHead(204).end(),
) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    calls.push({ headers: request.headers, body });
    answer(response, calls.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hear` };
}

/** The receiver is on loopback, which an admin has to allow. */
const env = { WEIR_OUTGOING_ALLOW: 'acme-callbacks=127.0.0.1' };
const update = (panel: TestPanel, body: object) => panel.call('/panel/api/setting/update', { body });

test('reports a client that reaches its quota once, signed; sends nothing while disabled', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [callbacks], clock, env });
  const { calls, url } = await openReceiver(t);
  t.deepEqual(await panel.get('/panel/api/notifications/test', { method: 'POST' }), []);
  engine.enter('stop');
  engine.enter('running');
  await panel.kernel.settled();
  t.true((await update(panel, { 'acme-callbacks.url': url, 'acme-callbacks.secret': secret })).body.success);
  t.is(
    (await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' }))[
      'acme-callbacks.secret'
    ],
    '',
  );

  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound], { totalGB: 100 });
  engine.move(inbound, ada.id, 0, 200);
  clock.tick(5_000);
  await until(() => calls.length > 0, 'the receiver gets it');
  const [{ headers, body } = { headers: {}, body: '' }] = calls;
  t.deepEqual(JSON.parse(body), {
    type: 'clientDepleted',
    timestamp: '2026-01-15T12:00:05.000Z',
    data: {
      text: 'A client has reached its limit and is disabled: ada (quota).',
      clients: [{ email: 'ada', cause: 'quota' }],
    },
  });
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  t.is(headers['webhook-signature'], `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`);
  t.is(headers['content-type'], 'application/json');
  t.deepEqual(await panel.get('/panel/api/notifications/test', { method: 'POST' }), [
    { channel: 'acme-callbacks', plugin: 'acme-callbacks', delivered: true, reason: '' },
  ]);
  t.deepEqual(
    calls.map((call) => (JSON.parse(call.body) as { type: string }).type),
    ['clientDepleted', 'test'],
  );
});

test('what a receiver did not take is sent again, as the same', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [callbacks], env });
  const { calls, url } = await openReceiver(t, (response, call) =>
    response.writeHead(call === 1 ? 500 : 204).end(),
  );
  await update(panel, { 'acme-callbacks.url': url, 'acme-callbacks.secret': secret });
  engine.enter('stop');
  await until(() => calls.length === 2, 'the second attempt');
  const [first, second] = calls;
  t.is(second?.headers['webhook-id'], first?.headers['webhook-id']);
  t.is(second?.body, first?.body);
});

test('a test says what is wrong, and what makes no sense is refused', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [callbacks], env });
  const { url } = await openReceiver(t, (response) => response.writeHead(410).end());
  await update(panel, { 'acme-callbacks.url': url, 'acme-callbacks.secret': secret });
  t.deepEqual(await panel.get('/panel/api/notifications/test', { method: 'POST' }), [
    {
      channel: 'acme-callbacks',
      plugin: 'acme-callbacks',
      delivered: false,
      reason: 'the receiver answered 410',
    },
  ]);
  for (const wrong of [{ 'acme-callbacks.url': 'ftp://example.org' }, { 'acme-callbacks.secret': 'hush' }])
    t.is((await update(panel, wrong)).status, 400);
});

test('a receiver at an address that is not public needs the word of an admin', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [callbacks] });
  const { calls, url } = await openReceiver(t);
  await update(panel, { 'acme-callbacks.url': url, 'acme-callbacks.secret': secret });
  const [{ delivered, reason } = { delivered: true, reason: '' }] = await panel.get<
    { delivered: boolean; reason: string }[]
  >('/panel/api/notifications/test', { method: 'POST' });
  t.false(delivered);
  t.regex(
    reason,
    /an address of this machine; if that is meant, add acme-callbacks=127\.0\.0\.1:\d+ to WEIR_OUTGOING_ALLOW/,
  );
  t.deepEqual(calls, []);
});
