// What the pages of clients decide: views, states, fields, keys, links.
import { createRequire } from 'node:module';
import test from 'ava';
import { encode } from 'uqr';
import { changesOf, fieldOfPath, typedOf } from '../page/clients/fields.js';
import { keyTarget } from '../page/clients/key-target.js';
import { loopbackOf } from '../page/clients/link-host.js';
import { linkName } from '../page/clients/link-name.js';
import { type Client, isOnline, stateOf, verdictOf } from '../page/clients/state.js';
import { isFiltered, queryOf, sortedBy, viewOf } from '../page/clients/view.js';
import { qrPath } from '../page/parts/qr-path.js';

const jsqr = createRequire(import.meta.url)('jsqr') as (
  data: Uint8ClampedArray,
  width: number,
  height: number,
) => { data: string } | null;
const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const client = (changes: Partial<Client> = {}, bytes = 0): Client => ({
  enable: true,
  totalGB: 0,
  expiryTime: 0,
  inboundIds: [1],
  limitIp: 0,
  limitHwid: 0,
  traffic: { up: bytes, down: 0, lastOnline: NOW - 1000 } as Client['traffic'],
  ...changes,
});

test('an address says a view, and what is wrong in it is left out', (t) => {
  t.deepEqual(
    viewOf({ search: 'x'.repeat(300), status: 'nonsense', inbound: '1;2', sort: 'email', order: 'up' }),
    {
      search: 'x'.repeat(255),
      status: undefined,
      inbound: undefined,
      group: undefined,
      sort: 'email',
      order: undefined,
    },
  );
  t.deepEqual(queryOf(viewOf({ status: 'online', inbound: '7', sort: 'traffic', order: 'descend' }), 2), {
    page: 3,
    pageSize: 200,
    status: 'online',
    inboundIds: '7',
    sort: 'traffic',
    order: 'descend',
  });
  t.false(isFiltered(viewOf({ sort: 'email' })));
  t.true(isFiltered(viewOf({ group: 'a' })));
});

test('the head of a column sorts up, down, and not at all', (t) => {
  const up = sortedBy(viewOf({}), 'email');
  const down = sortedBy(up, 'email');
  t.deepEqual([up.sort, up.order, down.order], ['email', undefined, 'descend']);
  t.is(sortedBy(down, 'email').sort, undefined);
  t.deepEqual(sortedBy(down, 'traffic'), { ...up, sort: 'traffic' });
});

test('the state says what keeps a client from connecting', (t) => {
  const gib = 1024 ** 3;
  t.is(stateOf(client(), NOW), 'on');
  t.is(stateOf(client({ totalGB: gib, enable: false }, gib), NOW), 'quota');
  t.is(stateOf(client({ totalGB: 10 * gib }, 9.5 * gib), NOW), 'soon');
  t.is(stateOf(client({ expiryTime: NOW, enable: false }), NOW), 'expired');
  t.is(stateOf(client({ expiryTime: NOW + DAY }), NOW), 'soon');
  t.is(stateOf(client({ enable: false }), NOW), 'off');
  t.is(stateOf(client({ inboundIds: [] }), NOW), 'unattached');
  t.is(stateOf(client({ expiryTime: -30 * DAY }), NOW), 'waiting');
  t.is(stateOf(client({ traffic: null }), NOW), 'on');
  t.true(isOnline(client(), NOW));
  t.false(isOnline(client({ enable: false }), NOW));
});

test('the verdict also looks at the core and the inbounds', (t) => {
  const of = (more: Parameters<typeof verdictOf>[2], one = client()) => verdictOf(one, NOW, more).text;
  t.is(of({}), 'verdict.on');
  t.is(of({ isCoreUp: false }), 'verdict.core');
  t.is(of({ isCoreUp: false }, client({ enable: false })), 'verdict.off');
  t.is(of({ enabledInbounds: new Set([2]) }), 'verdict.inbounds');
  t.is(of({ enabledInbounds: new Set([1]) }), 'verdict.on');
});

test('only what was changed is sent, in the units of the API', (t) => {
  const stored = {
    email: 'ann',
    totalGB: 1_500_000_001,
    expiryTime: 0,
    limitIp: 0,
    limitHwid: 2,
    group: '',
    comment: 'x',
    reset: 0,
    tgId: -5,
  };
  const before = typedOf(stored, 'binary');
  t.deepEqual(changesOf(before, before, 'binary'), { body: {}, invalid: [] });
  const after = { ...before, quota: '2', limitHwid: '', comment: '', tgId: '۱۲', expiry: '-86400000' };
  t.deepEqual(changesOf(before, after, 'binary'), {
    body: { comment: '', totalGB: 2 * 1024 ** 3, expiryTime: -DAY, limitHwid: 0, tgId: 12 },
    invalid: [],
  });
  t.deepEqual(changesOf(before, { ...before, quota: 'x', reset: '-1' }, 'binary').invalid, [
    'quota',
    'reset',
  ]);
  t.is(fieldOfPath('client.totalGB'), 'quota');
  t.is(fieldOfPath('email'), 'email');
  t.is(fieldOfPath('inboundIds.0'), undefined);
});

test('keys lead from row to row and stop at the ends', (t) => {
  t.is(keyTarget('ArrowDown', 9, 10, 5), 9);
  t.is(keyTarget('ArrowUp', 0, 10, 5), 0);
  t.is(keyTarget('PageDown', 2, 10, 5), 7);
  t.is(keyTarget('End', 2, 100_000, 5), 99_999);
  t.is(keyTarget('Home', 2, 10, 5), 0);
  t.is(keyTarget('x', 2, 10, 5), undefined);
});

test('a link is named after its fragment', (t) => {
  t.is(linkName('vless://id@host:443?x=1#home%20ann'), 'home ann (vless)');
  t.is(linkName('vmess://abc'), '');
  t.is(linkName('trojan://x#%E0%A4%A'), '%E0%A4%A (trojan)');
  t.is(linkName('ss://x#a%E2%80%AEb'), 'a⟨202E⟩b (ss)');
});

test('the path of a QR code has the modules of the code', (t) => {
  const text = 'https://example.org/sub/abc';
  const { size, data } = encode(text, { ecc: 'L', border: 4 });
  const scale = 4;
  const width = size * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x = '', y = '', length = ''] of qrPath(data).matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    for (let py = Number(y) * scale; py < (Number(y) + 1) * scale; py++)
      for (let px = Number(x) * scale; px < (Number(x) + Number(length)) * scale; px++)
        pixels.fill(0, (py * width + px) * 4, (py * width + px) * 4 + 3);
  t.is(jsqr(pixels, width, width)?.data, text);
});

test('a link to the machine itself is noticed', (t) => {
  t.is(loopbackOf('http://127.0.0.1:2096/sub/x'), '127.0.0.1');
  t.is(loopbackOf('vless://id@localhost:443?type=tcp#home'), 'localhost');
  t.is(loopbackOf('trojan://pw@[::1]:443'), '[::1]');
  for (const link of [
    'https://a.example/127.0.0.1',
    'vless://127.0.0.1@a.example:1',
    'vmess://e30',
    '',
    'ss://',
  ])
    t.is(loopbackOf(link), '', link);
});
