// Gates of other plugins: they decide on both paths, and a failing one harms nobody.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { contribute, definePlugin, kernelErrors, type Plugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { beforeSubscription, type FetchGate, FetchGates, type GateDecision } from '../contract.js';
import type { FetchHandler } from '../fetch-handler.js';
import subscription from '../index.js';

const clock = new FakeClock();
const plugin = (name: string, check: FetchGate['check']): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'A gate for a test.',
    contributes: () => [contribute(FetchGates, { check })],
  });
const decide = (refused: boolean, ...headers: readonly (readonly [string, string])[]): GateDecision => ({
  refused,
  headers,
});
const DECISIONS: Readonly<Record<string, unknown>> = {
  open: decide(false, ['X-One', '1'], ['X-Two', '2']),
  closed: decide(true, ['X-One', '1'], ['X-Two', '2']),
  bare: decide(true),
  forged: decide(false, ['X-One', 'a\r\nX-Two: b']),
  length: decide(false, ['Content-Length', '1']),
  promise: Promise.reject(new Error('too late')),
  odd: { refused: 'yes', headers: [] },
  none: null,
};
const first = plugin('first', (_, { 'x-ask': asked }) => {
  if (asked === 'throw') throw new Error('broken gate');
  if (asked === 'busy') throw kernelErrors.PLUGIN_OFF('loading');
  return typeof asked === 'string' ? (DECISIONS[asked] as GateDecision) : undefined;
});
const second = plugin('second', (_, headers) =>
  headers['x-also'] === undefined ? undefined : decide(headers['x-also'] === 'closed', ['X-Also', 'yes']),
);
const onlooker = definePlugin({
  name: 'onlooker',
  version: '1.0.0',
  api: 1,
  about: 'Taps into fetches.',
  taps: () => [tap(beforeSubscription, () => undefined)],
});

async function boot(...more: Plugin[]): Promise<TestPanel> {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, first, second, ...more], clock });
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  await panel.addClient('ann', [await panel.addInbound({ port: 20_001 })], {
    subId: 'sub-ann',
    uuid: '11111111-2222-4333-8444-555555555555',
  });
  return panel;
}
/** What comes over the wire, but for the time of day. */
async function bytesOf(panel: TestPanel, method: string, headers: string): Promise<string> {
  const socket = connect(Number(new URL(panel.subscriptionUrl).port), '127.0.0.1');
  socket.write(`${method} /s/sub-ann HTTP/1.1\r\nHost: weir\r\n${headers}Connection: close\r\n\r\n`);
  return (await text(socket)).replace(/^Date: .*$/m, '');
}

test('gates decide on both paths with the same bytes, and the fast path stays', async (t) => {
  const handler = servicesOf<{ fetchHandler: FetchHandler }>(subscription);
  await using fast = await boot(handler.plugin);
  await using slow = await boot(onlooker);
  for (const headers of [
    '',
    'X-Ask: open\r\n',
    'X-Ask: closed\r\n',
    'X-Ask: bare\r\n',
    'X-Ask: open\r\nX-Also: yes\r\n',
    'X-Ask: open\r\nX-Also: closed\r\n',
    'X-Ask: forged\r\n',
    'X-Ask: throw\r\n',
    'X-Ask: busy\r\n',
  ])
    for (const method of ['GET', 'HEAD'])
      t.is(await bytesOf(fast, method, headers), await bytesOf(slow, method, headers), method + headers);

  const both = await bytesOf(fast, 'GET', 'X-Ask: open\r\nX-Also: yes\r\n');
  t.true(both.startsWith('HTTP/1.1 200 '));
  for (const name of ['X-One: 1', 'X-Two: 2', 'X-Also: yes']) t.true(both.includes(`\r\n${name}\r\n`), name);
  const closed = await bytesOf(fast, 'GET', 'X-Ask: open\r\nX-Also: closed\r\n');
  t.regex(closed, /^HTTP\/1\.1 404 /);
  t.true(closed.includes('X-Also: yes') && !closed.includes('X-One'));
  t.true(closed.endsWith('\r\n\r\n') || closed.endsWith('\r\n0\r\n\r\n'), 'without a body');

  let sent: number | undefined;
  const response = {
    setHeader: () => undefined,
    end: () => (sent = 1),
    set statusCode(code: number) {
      sent = code;
    },
  };
  const request = { method: 'GET', url: '/s/sub-ann', headers: { host: 'weir', 'x-ask': 'closed' } };
  t.true(
    handler.services.fetchHandler.fast(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
    ),
    'a gate does not send fetches to the slow path',
  );
  t.truthy(sent);
});

test('a gate that fails is skipped and counts as a fault of its plugin; its memory being loaded is a 503', async (t) => {
  await using panel = await boot();
  const ask = async (asked: string) => {
    const { status, headers } = await fetch(`${panel.subscriptionUrl}/s/sub-ann`, {
      headers: { 'X-Ask': asked, 'X-Also': 'yes' },
    });
    return [status, headers.get('x-two'), headers.get('x-also')];
  };
  for (const asked of ['throw', 'forged', 'length', 'promise', 'odd', 'none'])
    t.deepEqual(await ask(asked), [200, null, 'yes'], asked);
  t.is(panel.faults.length, 6);
  t.true(
    panel.faults.every((fault) => fault.startsWith('first, ')),
    panel.faults.join(),
  );
  t.is((await ask('busy'))[0], 503);
  t.is(panel.faults.length, 6);
});
