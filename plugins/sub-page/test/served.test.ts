// The page as a whole panel serves it.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const GB = 1024 ** 3;
const DAY = 86_400_000;
const clock = new FakeClock();
let panel: TestPanel;
let inbound: number;
test.before(async () => {
  panel = await TestPanel.boot({ clock, plugins: [new FakeEngine().plugin] });
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subTitle: 'Weir of {{EMAIL}}', subAnnounce: '<b>ü</b>', datepicker: 'jalalian' },
  });
  inbound = await panel.addInbound({ remark: 'Сервер', port: 20_001 });
});
test.after.always(() => panel[Symbol.asyncDispose]());

const add = (email: string, more: Record<string, unknown> = {}) =>
  panel.addClient(email, [inbound], { subId: `sub-${email}`, totalGB: 80 * GB, ...more });
async function open(email: string, { query = '', headers = {} } = {}) {
  const answer = await fetch(`${panel.subscriptionUrl}/s/sub-${email}${query}`, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en', ...headers },
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

test('a browser gets the page, a program the list', async (t) => {
  await add('ann', { expiryTime: clock.now() + 10 * DAY });
  const page = await open('ann');
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.regex(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'sha256-/);
  t.regex(page.headers.get('cache-control') ?? '', /no-store/);
  t.is(page.headers.get('x-content-type-options'), 'nosniff');
  t.regex(page.headers.get('referrer-policy') ?? '', /no-referrer/);
  t.true(page.body.includes('<bdi>Weir of ann</bdi>'));
  t.true(page.body.includes('&lt;b&gt;ü&lt;/b&gt;'));
  t.true(page.body.includes('80 GB'));
  t.true(page.body.includes('/s/sub-ann</code>'));
  t.regex(page.body, /<code id="link0"[^>]*>vless:\/\//);
  t.true(Buffer.byteLength(page.body) < 60 * 1024);

  const program = await fetch(`${panel.subscriptionUrl}/s/sub-ann`, { headers: { accept: '*/*' } });
  t.regex(Buffer.from(await program.text(), 'base64').toString(), /^vless:/);
});

test('its language follows the browser and the query, its calendar the setting', async (t) => {
  await add('fay', { expiryTime: Date.UTC(2030, 0, 1, 12) });
  const persian = await open('fay', { headers: { 'accept-language': 'de, fa-IR;q=0.9, en;q=0.1' } });
  t.true(persian.body.includes('<html lang="fa" dir="rtl">'));
  t.true(persian.body.includes('دی ۱۴۰۸'));
  const chosen = await open('fay', { query: '?html=1&lang=ru', headers: { accept: '*/*' } });
  t.true(chosen.body.includes('<html lang="ru" dir="ltr">'));
});

test('a client that is over, used up or off gets no link', async (t) => {
  await add('over', { expiryTime: clock.now() - 1 });
  await add('off', { enable: false });
  for (const [email, words] of [
    ['over', 'Expired'],
    ['off', 'Disabled'],
  ] as const) {
    const { status, body } = await open(email);
    t.is(status, 200);
    t.true(body.includes(`<h2 id="state" class="bad">${words}</h2>`), email);
    t.false(/vless:|<svg class|\/s\/sub-/.test(body), email);
  }
});

test('a client with a device limit gets its address and no single server', async (t) => {
  await add('dan', { limitHwid: 1 });
  const before = await open('dan');
  t.true(before.body.includes('0 of 1'));
  t.true(before.body.includes('/s/sub-dan</code>'));
  t.false(before.body.includes('vless:'));
  const device = await fetch(`${panel.subscriptionUrl}/s/sub-dan`, { headers: { 'x-hwid': 'device-1' } });
  t.is(device.status, 200);
  const after = await open('dan');
  t.true(after.body.includes('1 of 1'));
  t.true(after.body.includes('All places are taken.'));
  t.false(after.body.includes('vless:'));
});

test('an unknown id gets the answer of every unknown path, in a browser too', async (t) => {
  const { status, body } = await open('nobody');
  t.is(status, 404);
  t.is(body, '');
});
