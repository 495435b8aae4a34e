// examples/shop as it is: a payment becomes one client, however often and in whatever state it arrives.
import { createHmac, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { freePort, TestPanel } from '../harness/panel.js';
import { accessTo, builtExample, startServer } from './sdk-program.js';

const KEY = randomBytes(32);
const SECRET = `whsec_${KEY.toString('base64')}`;
const PAID = '2099-11-24T12:00:00Z';
const payment = (orderId: string, more: object = {}) =>
  JSON.stringify({
    type: 'payment.succeeded',
    data: { orderId, customer: 'ann@example.com', plan: 'small', paidAt: PAID, ...more },
  });

/** Headers of a delivery, as the provider makes them. */
function signed(body: string, at = Math.floor(Date.now() / 1000), key: Buffer = KEY): Record<string, string> {
  const signature = createHmac('sha256', key).update(`msg_1.${at}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} v1,${signature}`,
  };
}

let folder = '';
test.before(async () => {
  folder = await builtExample('shop');
});
test.after.always(() => rm(folder, { recursive: true, force: true }));

async function shop(t: ExecutionContext, panel: TestPanel, url?: string) {
  const { WEIR_URL, WEIR_TOKEN } = await accessTo(panel);
  const id = await panel.addInbound({ protocol: 'vless', listen: '127.0.0.1', port: await freePort() });
  const program = await startServer(t, folder, ['dist/shop.js'], {
    WEIR_URL: url ?? WEIR_URL,
    WEIR_TOKEN,
    SHOP_SECRET: SECRET,
    SHOP_INBOUNDS: String(id),
    SHOP_PORT: '0',
  });
  const send = async (body: string, headers = signed(body)) => {
    const response = await fetch(program.url, { method: 'POST', headers, body });
    return [response.status, await response.json()] as const;
  };
  return { ...program, send };
}
const clientsOf = (panel: TestPanel) =>
  panel.get<{ email: string; totalGB: number; expiryTime: number; comment: string; group: string }[]>(
    '/panel/api/clients/list',
  );

test.serial('a payment creates one client, also when it comes again, at once or a day later', async (t) => {
  t.timeout(300_000);
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ clock, plugins: [new FakeEngine().plugin] });
  const { send } = await shop(t, panel);
  const created = [200, { client: 'order-17', created: true }];
  t.deepEqual(await send(payment('17')), created);
  t.deepEqual(await send(payment('17')), created);
  t.like(await clientsOf(panel), [
    {
      email: 'order-17',
      totalGB: 50 * 1024 ** 3,
      expiryTime: Date.parse(PAID) + 30 * 86_400_000,
      comment: 'ann@example.com',
      group: 'shop',
    },
  ]);
  t.deepEqual(await Promise.all([1, 2, 3].map(() => send(payment('18')))), [
    [200, { client: 'order-18', created: true }],
    [200, { client: 'order-18', created: true }],
    [200, { client: 'order-18', created: true }],
  ]);
  t.is((await clientsOf(panel)).length, 2);
  clock.leap(25 * 3_600_000);
  await panel.login();
  t.deepEqual(await send(payment('17')), [200, { client: 'order-17', created: false }]);
  t.is((await clientsOf(panel)).length, 2);
});

test.serial('what is not signed, too large or wrong is refused by name and creates nothing', async (t) => {
  t.timeout(300_000);
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { url, send } = await shop(t, panel);
  const body = payment('17');
  const now = Math.floor(Date.now() / 1000);
  for (const headers of [
    {},
    { ...signed(body), 'webhook-signature': 'v1,AAAA' },
    { ...signed(body), 'webhook-signature': '' },
    { ...signed(body), 'webhook-id': 'msg_2' },
    signed(body, now, randomBytes(32)),
    signed(body, now - 3600),
    signed(body, now + 3600),
    signed(payment('18')),
    // The same JSON, in other bytes.
    signed(JSON.stringify(JSON.parse(body), null, 1)),
  ])
    t.is((await send(body, headers as Record<string, string>))[0], 401, JSON.stringify(headers));
  for (const [wrong, error] of [
    ['{', /not valid JSON/],
    [payment('17', { plan: 'huge' }), /^data\.plan must be one of small, large$/],
    [payment('../1'), /^data\.orderId must match/],
    [payment('17', { customer: 5 }), /^data\.customer must match/],
    [payment('17', { paidAt: 'yesterday' }), /^data\.paidAt must match/],
    ['{"type":"payment.succeeded"}', /^data must be an object$/],
  ] as const) {
    const [status, answer] = await send(wrong);
    t.is(status, 422, wrong);
    t.regex((answer as { error: string }).error, error);
  }
  t.deepEqual(await send('{"type":"refund.created"}'), [200, { ignored: true }]);
  t.deepEqual(await send('null'), [200, { ignored: true }]);
  t.is((await fetch(url)).status, 405);
  const huge = payment('17', { note: 'x'.repeat(70_000) });
  t.is((await send(huge))[0], 413);
  // Without a length, the limit is found while it is read.
  const stream = new Blob([huge]).stream();
  const chunked = { method: 'POST', headers: signed(huge), body: stream, duplex: 'half' } as RequestInit;
  t.is((await fetch(url, chunked)).status, 413);
  t.deepEqual(await clientsOf(panel), []);
  t.is((await send(body))[0], 200);
});

test.serial('while the panel is away the provider is asked to send again', async (t) => {
  t.timeout(300_000);
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { send, words } = await shop(t, panel, `http://127.0.0.1:${await freePort()}`);
  t.deepEqual(await send(payment('17')), [
    503,
    { error: 'the order could not be delivered yet; send it again' },
  ]);
  t.regex(words(), /POST \/panel\/api\/clients\/add: no complete reply \(ECONNREFUSED\)/);
});
