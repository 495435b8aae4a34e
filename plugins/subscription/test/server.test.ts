// What the server sends beside lists: status, page, places of devices, choice by query and agent, limits.
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { Formats, type ListFormat, type PageView, SubscriptionPages } from '../contract.js';

const GB = 1024 ** 3;
const views: PageView[] = [];
const plugin = definePlugin({
  name: 'kitchen',
  version: '1.0.0',
  api: 1,
  about: 'A format and a page for a test.',
  contributes: () => [
    contribute(Formats, {
      name: 'json',
      contentType: 'application/json',
      prefix: () => '/j/',
      fileName: 'subscription.json',
      cannot: ({ account }) => (account.protocol === 'trojan' ? 'no trojan' : undefined),
      compile:
        () =>
        ({ name }) =>
          JSON.stringify(name),
      note: (name) => JSON.stringify(`! ${name}`),
      body: (entries) => `[${entries.join()}]`,
    } satisfies ListFormat),
    contribute(SubscriptionPages, {
      page: (view, request) => {
        views.push(view);
        if (request.lang === 'broken') throw new Error('broken page');
        return {
          html: `<p>${view.links.length} ${request.languages.join()} ${request.lang ?? ''}</p>`,
          headers: [['Content-Security-Policy', "default-src 'none'"]],
        };
      },
    }),
  ],
});

interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}
async function boot(clock = new FakeClock()) {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, plugin],
    // Formats and a page of the same names.
    without: ['sub-json', 'sub-balancers', 'sub-page'],
    clock,
  });
  const inbound = await panel.addInbound({ port: 20_001, remark: 'in' });
  await panel.addClient('ann', [inbound], { subId: 'sub-ann', totalGB: 80 * GB });
  const set = (body: object) => panel.get('/panel/api/setting/update', { body });
  await set({ subPath: '/s/', subEncrypt: false, remarkTemplate: '{{EMAIL}}' });
  const get = async (
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<Fetched> => {
    const answer = await fetch(panel.subscriptionUrl + path, { headers, method });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  return { panel, inbound, set, get, clock };
}

test('the status is JSON, and the page gets the same with links', async (t) => {
  const { panel, set, get, inbound } = await boot();
  await using _ = panel;
  await set({ subTitle: 'Weir {{EMAIL}}', subURI: 'https://sub.example/x/' });
  const info = await get('/s/sub-ann?format=info', { accept: 'text/html' });
  t.is(info.headers.get('content-type'), 'application/json; charset=utf-8');
  t.like(JSON.parse(info.body), {
    sId: 'sub-ann',
    enabled: true,
    isOnline: false,
    used: '0.00B',
    total: '80.00GB',
    remained: '80.00GB',
    expire: 0,
    subUrl: 'https://sub.example/x/sub-ann',
    subJsonUrl: 'https://sub.example/j/sub-ann',
    subAltUrl: '',
    subTitle: 'Weir ann',
    emails: ['ann'],
  });
  const page = await get('/s/sub-ann', { accept: 'text/html', 'accept-language': 'en;q=0.5, fa-IR, x;q=0' });
  t.is(page.body, '<p>1 fa-IR,en </p>');
  t.is(page.headers.get('content-security-policy'), "default-src 'none'");
  t.regex(page.headers.get('cache-control') ?? '', /no-store/);
  t.regex((await get('/s/sub-ann?html=1&lang=ru')).body, / ru</);
  t.is((await get('/s/sub-ann?html=1&lang=broken')).status, 503);
  t.is(panel.faults.length, 1);
  t.is((await get('/s/nobody?html=1')).status, 404);
  t.is((await get('/s/nobody?format=info')).status, 404);

  await panel.addClient('new', [inbound], { subId: 'sub-new', expiryTime: -5000 });
  await get('/s/sub-new?html=1');
  t.like(views.at(-1), { timeFromFirstUse: 5000 });
  await panel.addClient('off', [inbound], { subId: 'sub-off', enable: false });
  await panel.addClient('two', [inbound], { subId: 'sub-two', limitHwid: 2 });
  await get('/s/sub-off?html=1');
  t.like(views.at(-1), { state: 'disabled', links: [] });
  await get('/s/sub-two?html=1');
  t.like(views.at(-1), { state: 'working', links: [], devices: { limit: 2, registered: 0, remaining: 2 } });
  for (const prefix of ['/s/', '/j/']) {
    const places = await get(`${prefix}sub-two/hwid-status`);
    t.deepEqual(JSON.parse(places.body), {
      active: true,
      full: false,
      limit: 2,
      registered: 0,
      remaining: 2,
    });
    t.is((await get(`${prefix}sub-off/hwid-status`)).status, 404);
    t.is((await get(`${prefix}nobody/hwid-status`)).status, 404);
  }
});

test('the format follows the query, then the agent, then the path', async (t) => {
  const { panel, inbound, set, get } = await boot();
  await using _ = panel;
  await panel.addClient('tro', [await panel.addInbound({ port: 20_002, protocol: 'trojan' })], {
    subId: 'sub-tro',
  });
  t.true(inbound > 0);
  t.is((await get('/s/sub-ann?format=json')).body, '["ann"]');
  t.is((await get('/s/sub-ann?format=xray')).body, '["ann"]');
  t.regex((await get('/j/sub-ann?format=links')).body, /^vless:/);
  t.regex((await get('/s/sub-ann?format=unknown')).body, /^vless:/);
  const file = await get('/j/sub-ann?view=raw');
  t.is(file.headers.get('content-disposition'), 'attachment; filename="subscription.json"');
  await set({ subTitle: 'Wëir' });
  t.is(
    (await get('/j/sub-ann')).headers.get('content-disposition'),
    "attachment; filename*=UTF-8''W%C3%ABir",
  );
  await set({ subJsonAutoDetect: true, subJsonUserAgentRegex: '(?i)v2rayng' });
  t.is((await get('/s/sub-ann', { 'user-agent': 'V2rayNG/1.9' })).body, '["ann"]');
  t.regex((await get('/s/sub-tro', { 'user-agent': 'V2rayNG/1.9' })).body, /^trojan:/, 'it cannot be empty');
  t.regex((await get('/s/sub-ann', { 'user-agent': 'other' })).body, /^vless:/);
  await set({
    subResponseRules: [
      { agent: '^Evil', block: true },
      { agent: 'V2rayNG/2', format: 'links', headers: { 'X-Rule': 'two' } },
    ],
    subAppAutoDetect: true,
    subAppSubInfoText: 'hi',
    subAppSubInfoColor: 'warning',
    subAppSubExpire: true,
  });
  const [blocked, unknown] = [
    await get('/s/sub-ann', { 'user-agent': 'Evil/1' }),
    await get('/s/nobody', { 'user-agent': 'Evil/1' }),
  ];
  t.deepEqual([blocked.status, blocked.body], [unknown.status, unknown.body]);
  const ruled = await get('/s/sub-ann', { 'user-agent': 'V2rayNG/2' });
  t.regex(ruled.body, /^vless:/);
  t.is(ruled.headers.get('x-rule'), 'two');
  const { headers } = await get('/s/sub-ann', { 'user-agent': 'Happ/1.2' });
  t.deepEqual(
    ['sub-info-text', 'sub-info-color', 'sub-expire', 'routing-enable'].map((name) => headers.get(name)),
    ['hi', 'red', '1', '0'],
  );
  t.is((await get('/s/sub-ann', { 'user-agent': 'Happy' })).headers.get('sub-expire'), null);
  const preview = (query: string) =>
    panel.get<Record<string, unknown>>(`/panel/api/setting/subscriptionPreview?${query}`);
  t.like(await preview('agent=Evil/1'), { status: 404, rule: 0, format: '' });
  t.like(await preview('agent=V2rayNG/2&email=ann'), { status: 200, rule: 1, format: 'links' });
  t.like(await preview('agent=V2rayNG/1&email=ann'), { rule: null, format: 'json', body: '["ann"]' });
});

test('a known body is a 304, with the headers', async (t) => {
  const { panel, get, set } = await boot();
  await using _ = panel;
  const first = await get('/s/sub-ann');
  const tag = first.headers.get('etag') ?? '';
  for (const [path, method] of [
    ['/s/sub-ann', 'GET'],
    ['/s/sub-ann', 'HEAD'],
    ['/s/sub-ann?x=1', 'GET'],
  ] as const) {
    const known = await get(path, { 'if-none-match': `"x", W/${tag}` }, method);
    t.deepEqual([known.status, known.body], [304, ''], path);
    t.is(known.headers.get('subscription-userinfo'), first.headers.get('subscription-userinfo'));
  }
  await set({ remarkTemplate: 'new' });
  t.is((await get('/s/sub-ann', { 'if-none-match': tag })).status, 200);
});

test('an entry tells why there is no link, if a setting says so', async (t) => {
  const { panel, inbound, get, set, clock } = await boot();
  await using _ = panel;
  await panel.addClient('off', [inbound], { subId: 'sub-off', enable: false });
  await panel.addClient('late', [inbound], { subId: 'sub-late', expiryTime: clock.now() - 1 });
  await panel.addClient('many', [inbound], { subId: 'sub-many', limitHwid: 1 });
  const device = { 'x-hwid': 'device-1' };
  t.is((await get('/j/sub-off')).body, '[]');
  await set({ subInfoNodeEnable: true, subExpiredTemplate: 'over, {{EMAIL}}' });
  t.is((await get('/j/sub-off')).body, '["! 🚫 off: Disabled"]');
  t.is((await get('/j/sub-late')).body, '["! over, late"]');
  t.is((await get('/j/sub-ann')).body, '["ann"]');
  t.is((await get('/j/sub-many', device)).body, '["many"]');
  const refused = await get('/j/sub-many', { 'x-hwid': 'device-2' });
  t.deepEqual([refused.status, refused.body], [200, '["! 📵 many: Too many devices"]']);
  t.is(refused.headers.get('x-hwid-max-devices-reached'), 'true');
  await set({ subDeviceLimitTemplate: '' });
  t.is((await get('/j/sub-many', { 'x-hwid': 'device-2' })).status, 404);
});

test('an address that asks for too much that is not there waits', async (t) => {
  const { panel, get, set, clock } = await boot();
  await using _ = panel;
  await set({ trustedProxyCIDRs: '127.0.0.1', subMissLimit: 3 });
  const from = (address: string, path: string) => get(path, { 'x-forwarded-for': address });
  for (const path of ['/s/a', '/elsewhere', '/s/%']) t.is((await from('203.0.113.9', path)).status, 404);
  for (const path of ['/s/sub-ann', '/s/b', '/']) {
    const refused = await from('203.0.113.9', path);
    t.deepEqual([refused.status, refused.body], [429, ''], path);
    t.true(Number(refused.headers.get('retry-after')) > 0);
  }
  t.is((await from('203.0.113.10', '/s/sub-ann')).status, 200);
  for (const path of ['/s/a', '/s/b', '/s/c', '/s/d']) t.is((await get(path)).status, 404, 'this machine');
  // Whoever is told nothing learns nothing from the limit.
  await set({ subResponseRules: [{ agent: 'Evil', block: true }] });
  const blocked = (address: string) =>
    get('/s/sub-ann', { 'x-forwarded-for': address, 'user-agent': 'Evil' });
  for (const status of [404, 404, 404, 429]) t.is((await blocked('203.0.113.11')).status, status);
  clock.tick(601_000);
  t.is((await from('203.0.113.9', '/s/sub-ann')).status, 200);
});

test('with a host of its own, no other host gets anything', async (t) => {
  const { panel, get, set } = await boot();
  await using _ = panel;
  await set({ subDomain: 'sub.example', trustedProxyCIDRs: '127.0.0.1' });
  for (const path of ['/s/sub-ann', '/s/nobody', '/']) {
    const other = await get(path, { 'x-forwarded-host': 'other.example' });
    t.deepEqual([other.status, other.body], [403, ''], path);
  }
  t.is((await get('/s/sub-ann', { 'x-forwarded-host': 'SUB.example' })).status, 200);
  t.is((await get('/s/sub-ann')).status, 200, 'loopback');
});

test('clients that an import gave one subId are served together', async (t) => {
  const { panel, inbound, get, clock } = await boot();
  await using _ = panel;
  const client = (email: string, fields: object) => ({
    client: { email, subId: 'family', ...fields },
    inboundIds: [inbound],
    traffic: { up: 1, down: 2 },
  });
  const imported = await panel.get<Record<string, unknown>>('/panel/api/clients/import', {
    body: {
      data: JSON.stringify([
        client('one', { totalGB: 10, expiryTime: -1000 }),
        client('two', { totalGB: 20, expiryTime: clock.now() + 1000 }),
        client('off', { totalGB: 5, enable: false }),
      ]),
    },
  });
  t.like(imported, { created: 3 });
  const { body, headers } = await get('/s/family');
  t.is(headers.get('subscription-userinfo'), 'upload=3; download=6; total=35; expire=0');
  t.deepEqual(
    body
      .trim()
      .split('\n')
      .map((link) => link.split('#')[1]),
    ['one', 'in'],
  );
  t.deepEqual(JSON.parse((await get('/s/family?format=info')).body).emails, ['one', 'two', 'off']);
  await get('/s/family?html=1');
  t.is(views.at(-1)?.timeFromFirstUse, undefined);
  const shown = await panel.get<string[]>('/panel/api/clients/subLinks/family');
  t.deepEqual(
    shown.map((link) => /#.*(one|two|off)/.exec(link)?.[1]),
    ['one', 'two', 'off'],
  );
  const added = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'new', subId: 'family' }, inboundIds: [inbound] },
  });
  t.is(added.status, 409);
  await panel.get('/panel/api/clients/del/one', { method: 'POST' });
  t.is(
    (await get('/s/family')).headers.get('subscription-userinfo'),
    'upload=2; download=4; total=25; expire=0',
  );
});
