// Each setting of the subscription server: what it does to a fetch, and how a wrong value is refused.
import test from 'ava';
import { parse } from 'yaml';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
const FORMATS = { s: 'links', j: 'json', a: 'alt', b: 'sing-box' } as const;
let panel: TestPanel;
const set = (body: object) => panel.get('/panel/api/setting/update', { body });
const get = async (path: string, agent = 'test') => {
  const answer = await fetch(panel.subscriptionUrl + path, { headers: { 'user-agent': agent } });
  return { headers: answer.headers, body: await answer.text() };
};
const header = async (name: string, path = '/s/ann', agent = 'test') =>
  (await get(path, agent)).headers.get(name);

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  const inbound = await panel.addInbound({ remark: 'in' });
  const balanced = await panel.addInbound({ remark: 'two' });
  await panel.addClient('ann', [inbound, balanced], { subId: 'ann' });
  await panel.addClient('off', [inbound], { subId: 'off', enable: false, totalGB: 10 });
  await panel.addClient('month', [inbound], {
    subId: 'month',
    resetDay: 1,
    // Midnight in Berlin.
    expiryTime: Date.UTC(2026, 0, 31, 23),
  });
  await set({
    ...{ subPath: '/s/', jsonPath: '/j/', altFormatPath: '/a/', subSingBoxPath: '/b/' },
    ...{ subJsonEnable: true, subAltEnable: true, subSingBoxEnable: true },
    ...{ subEncrypt: false, remarkTemplate: '{{INBOUND}}', timeLocation: 'Europe/Berlin' },
  });
});
test.after.always(() => panel[Symbol.asyncDispose]());

test.serial('headers say what the settings say', async (t) => {
  t.is(await header('routing-enable'), null);
  t.is(await header('hide-settings'), null);
  t.is(await header('routing'), null);
  t.is(await header('profile-web-page-url'), null);
  await set({
    ...{ subEnableRouting: true, subRoutingRules: 'happ://routing/off', subHideSettings: true },
    ...{ subProfileUrl: 'pages.example/{{EMAIL}}', subUpdates: 7, subAnnounce: 'ho {{EMAIL}}' },
    subSupportUrl: 'mailto:a@b.example',
  });
  t.is(await header('routing-enable'), 'true');
  t.is(await header('routing'), 'happ://routing/off');
  t.is(await header('hide-settings'), '1');
  t.is(await header('profile-web-page-url'), 'https://pages.example/ann');
  t.is(await header('profile-update-interval'), '7');
  t.is(await header('support-url'), 'mailto:a@b.example');
  t.is(await header('announce'), `base64:${Buffer.from('ho ann').toString('base64')}`);
  await set({ subProfileMode: 'none' });
  t.is(await header('profile-web-page-url'), null);
  await set({ subProfileMode: 'builtin' });
  t.regex((await header('profile-web-page-url')) ?? '', /\/s\/ann\?html=1$/);
  const urls = async () => JSON.parse((await get('/s/ann?format=info')).body) as Record<string, string>;
  t.regex((await urls())['subAltUrl'] ?? '', /^http:.*\/a\/ann$/);
  await set({ subAltURI: 'https://alt.example/x', subURI: 'https://sub.example/y/' });
  t.is((await urls())['subAltUrl'], 'https://alt.example/x/ann');
  t.is((await urls())['subJsonUrl'], 'https://sub.example/j/ann');
  await set({
    subEnableRouting: false,
    subRoutingRules: '',
    subHideSettings: false,
    subProfileMode: 'custom',
  });
  t.is(await header('profile-web-page-url'), 'https://pages.example/ann');
});

test.serial('an agent gets its format and its headers', async (t) => {
  const kindOf = (body: string) => {
    if (body.startsWith('vless:')) return 'links';
    return body.startsWith('proxies:') ? 'alt' : body.includes('"remarks"') ? 'json' : 'sing-box';
  };
  for (const [isOn, pattern, agent, format] of [
    ['subAltAutoDetect', 'subAltUserAgentRegex', 'ClashMeta/1', 'alt'],
    ['subSingBoxAutoDetect', 'subSingBoxUserAgentRegex', 'sing-box 1.12', 'sing-box'],
  ] as const) {
    t.is(kindOf((await get('/s/ann', agent)).body), 'links', agent);
    await set({ [isOn]: true });
    t.is(kindOf((await get('/s/ann', agent)).body), format, agent);
    await set({ [pattern]: '^mine$' });
    t.is(kindOf((await get('/s/ann', agent)).body), 'links', agent);
    t.is(kindOf((await get('/s/ann', 'mine')).body), format, agent);
    await set({ [isOn]: false });
  }
  await set({ subAppIAutoDetect: true, subAppIHeaders: { 'Sort-Order': 'ping' } });
  t.is(await header('sort-order', '/s/ann', 'INCY/2'), 'ping');
  t.is(await header('sort-order', '/s/ann', 'other'), null);
});

test.serial('app H gets a header for each of its settings, and no other program does', async (t) => {
  const HEADERS = {
    subAppProviderId: ['provider', 'providerid', 'provider'],
    subAppNewUrl: ['new.example/x', 'new-url', 'https://new.example/x'],
    subAppFallbackUrl: ['https://b.example', 'fallback-url', 'https://b.example'],
    subAppSubInfoText: ['Привет', 'sub-info-text', `base64:${Buffer.from('Привет').toString('base64')}`],
    subAppSubInfoColor: ['success', 'sub-info-color', 'green'],
    subAppSubInfoButtonText: ['more', 'sub-info-button-text', 'more'],
    subAppSubInfoButtonLink: ['https://c.example', 'sub-info-button-link', 'https://c.example'],
    subAppSubExpire: [true, 'sub-expire', '1'],
    subAppSubExpireButtonLink: ['https://d.example', 'sub-expire-button-link', 'https://d.example'],
    subAppNotificationExpire: [true, 'notification-subs-expire', '1'],
    subAppNoLimit: [true, 'no-limit-enabled', '1'],
    subAppAlwaysHwid: [true, 'subscription-always-hwid-enable', '1'],
    subAppTunMode: ['gvisor', 'tun-mode', 'gvisor'],
    subAppTunType: ['xray', 'tun-type', 'xray'],
    subAppExcludeRoutes: ['10.0.0.0/8', 'exclude-routes', '10.0.0.0/8'],
    subAppExcludeApns: [true, 'exclude-apns-enable', 'true'],
    subAppColorProfile: ['{ "a": 1 }', 'color-profile', '{"a":1}'],
    subAppPingType: ['http', 'ping-type', 'proxy'],
    subAppAutoConnect: [true, 'subscription-autoconnect', '1'],
    subAppAutoConnectType: ['fastest', 'subscription-autoconnect-type', 'lowestdelay'],
    subAppPerAppMode: ['exclude', 'per-app-proxy-mode', 'bypass'],
    subAppPerAppList: ['a.b', 'per-app-proxy-list', 'a.b'],
    subAppSocksAuthMode: ['auto', 'socks-auth-mode', 'auto'],
    subAppHttpAuthMode: ['disable', 'http-auth-mode', 'disable'],
  } as const;
  const all = Object.values(HEADERS).map(([, name]) => name);
  const sent = async (agent: string) => {
    const { headers } = await get('/s/ann', agent);
    return all.flatMap((name) => (headers.has(name) ? [name] : []));
  };
  await set({ subAppAutoDetect: true });
  t.deepEqual(await sent('Happ/3'), [], 'none is sent unasked');
  await set(Object.fromEntries(Object.entries(HEADERS).map(([name, [value]]) => [name, value])));
  const { headers } = await get('/s/ann', 'Happ/3');
  for (const [, name, value] of Object.values(HEADERS)) t.is(headers.get(name), value, name);
  t.deepEqual(await sent('other'), []);
  await set({
    subAppSubInfoText: '',
    subAppAutoConnect: false,
    subAppSubExpire: false,
    subAppPerAppMode: 'off',
  });
  const left = await sent('Happ/3');
  t.false(
    left.some((name) => /^sub-|autoconnect|per-app-proxy-mode/.test(name)),
    left.join(),
  );
});

test.serial('the routing of app I is the last line of the list', async (t) => {
  const lines = async () => (await get('/s/ann')).body.trim().split('\n').slice(2);
  await set({ subIncyRoutingRules: 'incy://routing/onadd/e30=' });
  t.deepEqual(await lines(), []);
  await set({ subIncyEnableRouting: true });
  t.deepEqual(await lines(), ['incy://routing/onadd/e30=']);
  await set({ subIncyRoutingRules: 'https://r.example/x?y' });
  t.deepEqual(await lines(), ['incy://autorouting/onadd/https://r.example/x?y']);
  t.is((await get('/s/off')).body, '');
  t.notRegex((await get('/j/ann')).body, /incy/);
  await set({ subIncyEnableRouting: false });
});

test.serial('the end of a month is the second before, if a setting says so', async (t) => {
  const end = Date.UTC(2026, 0, 31, 23) / 1000;
  const told = async () =>
    /expire=(\d+)/.exec((await header('subscription-userinfo', '/s/month')) ?? '')?.[1];
  const shown = async () =>
    (JSON.parse((await get('/s/month?format=info')).body) as { expire: number }).expire;
  t.deepEqual([await told(), await shown()], [String(end), end]);
  await set({ subCalendarExpireInclusive: true });
  t.deepEqual([await told(), await shown()], [String(end - 1), end - 1]);
  const { id: _id, ...month } = await panel.get<Record<string, unknown>>('/panel/api/clients/get/month');
  for (const change of [{ expiryTime: end * 1000 + 1000 }, { expiryTime: end * 1000, resetDay: 2 }]) {
    await panel.get('/panel/api/clients/update/month', { body: { ...month, ...change } });
    t.is(await told(), String(change.expiryTime / 1000));
  }
  await panel.get('/panel/api/clients/update/month', { body: { ...month, resetDay: 1 } });
  await set({ timeLocation: 'UTC' });
  t.is(await told(), String(end), 'in this zone it is no midnight');
});

test.serial('an entry before all others tells the status, and no group chooses it', async (t) => {
  await set({ subStatusTemplate: '{{EMAIL}} has {{TRAFFIC_USED}}', remarkTemplate: '{{INBOUND}}-{{EMAIL}}' });
  const inbounds = await panel.get<{ id: number }[]>('/panel/api/inbounds/list');
  await panel.get('/panel/api/sub-balancers', {
    body: { remark: 'both', inboundIds: inbounds.map(({ id }) => id), strategy: 'random' },
  });
  const before = Object.fromEntries(
    await Promise.all(Object.keys(FORMATS).map(async (at) => [at, (await get(`/${at}/ann`)).body])),
  ) as Record<keyof typeof FORMATS, string>;
  t.notRegex(Object.values(before).join(), /has 0/);
  await set({ subInfoNodeEnable: true });
  const [note, ...links] = (await get('/s/ann')).body.trim().split('\n');
  t.is(note, 'socks://127.0.0.1:1080#ann%20has%200.00B');
  t.deepEqual(links, before.s.trim().split('\n'));
  const documents = JSON.parse((await get('/j/ann')).body) as { remarks: string }[];
  t.deepEqual(
    documents.map(({ remarks }) => remarks),
    ['ann has 0.00B', 'in-ann', 'two', 'both'],
  );
  t.deepEqual(documents.slice(1), JSON.parse(before.j));
  const yaml = parse((await get('/a/ann')).body) as {
    proxies: { name: string }[];
    'proxy-groups': { proxies: string[] }[];
  };
  t.deepEqual(
    yaml.proxies.map(({ name }) => name),
    ['ann has 0.00B', 'in-ann', 'two'],
  );
  t.deepEqual(yaml['proxy-groups'][0]?.proxies, ['in-ann', 'two', 'DIRECT']);
  const box = JSON.parse((await get('/b/ann')).body) as {
    outbounds: { tag: string; outbounds?: string[] }[];
  };
  t.deepEqual(box.outbounds[0]?.outbounds, ['auto', 'in-ann', 'two', 'ann has 0.00B']);
  // One that may use nothing is told why, and nothing else.
  for (const [template, name] of [
    ['{{EMAIL}} no', 'off%20no'],
    ['', 'Disabled'],
  ] as const) {
    await set({ subDisabledTemplate: template });
    t.is((await get('/s/off')).body, `socks://127.0.0.1:1080#${name}\n`);
  }
  await set({ subStatusTemplate: '', subTrafficDepletedTemplate: 'gone' });
  t.is((await get('/s/ann')).body, before.s);
  const [{ id: inbound } = { id: 0 }] = inbounds;
  await panel.addClient('used', [inbound], { subId: 'used', totalGB: 1 });
  await panel.get('/panel/api/clients/updateTraffic/used', { body: { upload: 10, download: 0 } });
  t.is((await get('/s/used')).body, 'socks://127.0.0.1:1080#gone\n');
});

const WRONG: Readonly<Record<string, unknown>> = {
  ...{
    subEnable: 'perhaps',
    subListen: 'localhost',
    subPort: 70_000,
    subPath: 'no slash',
    jsonPath: '/a b/',
  },
  ...{ altFormatPath: 'x', subSingBoxPath: '', subDomain: 'a:1', subCertFile: 'relative', subKeyFile: 'k' },
  ...{ subUpdates: -1, subEncrypt: 'x', subURI: 'sub.example', subJsonURI: 'ftp://x', subAltURI: 'x?y' },
  ...{ subJsonEnable: 2, subAltEnable: 'on it', subSingBoxEnable: [], subJsonAutoDetect: 'x' },
  ...{ subAltAutoDetect: 'x', subSingBoxAutoDetect: 'x', subJsonUserAgentRegex: '(' },
  ...{ subAltUserAgentRegex: '(?=a)', subSingBoxUserAgentRegex: 'a'.repeat(3000), subJsonAlwaysArray: 'x' },
  ...{ subTitle: 'a\nb', subAnnounce: 'a\rb', subSupportUrl: 'javascript:x', subProfileUrl: 'data:x' },
  ...{ subProfileMode: 'mine', subEnableRouting: 'x', subRoutingRules: 'a\nb', subHideSettings: 'x' },
  ...{ subIncyEnableRouting: 'x', subIncyRoutingRules: 'vless://x', subAltEnableRouting: 'x' },
  ...{ subAltRules: 'DOMAIN,a,Nobody', subAltFixedPaths: 'x', subJsonMux: '[]', subJsonRules: '{}' },
  ...{ subJsonFinalMask: '{"x":1}', subJsonObservatory: '[]', subJsonDns: '{"x":1}' },
  ...{ subJsonRoutingRules: 'x', subSingBoxTemplate: '[]', remarkTemplate: 'a\u0000' },
  ...{ subShowIdentityOnAllLinks: 'x', subInfoNodeEnable: 'x', subExpiredTemplate: '\u0000' },
  ...{ subTrafficDepletedTemplate: 1, subDisabledTemplate: '\u0000', subDeviceLimitTemplate: '\u0000' },
  ...{
    subThemeDir: '/nowhere',
    subStatusTemplate: '\u0000',
    subCalendarExpireInclusive: 'x',
    subMissLimit: -1,
  },
  ...{ subResponseRules: [{ agent: '(' }], subAppAutoDetect: 'x', subAppProviderId: 'a\nb' },
  ...{ subAppNewUrl: 'a b', subAppFallbackUrl: 'ftp://', subAppSubInfoColor: 'a\nb', subAppSubInfoText: 1 },
  ...{ subAppSubInfoButtonText: '\u0000', subAppSubInfoButtonLink: '\u0000', subAppSubExpire: 'x' },
  ...{ subAppSubExpireButtonLink: '\u0000', subAppNotificationExpire: 'x', subAppNoLimit: 'x' },
  ...{ subAppAlwaysHwid: 'x', subAppTunMode: 'x', subAppTunType: 'x', subAppExcludeRoutes: '\u0000' },
  ...{ subAppExcludeApns: 'x', subAppColorProfile: '{', subAppPingType: 'x', subAppAutoConnect: 'x' },
  ...{ subAppAutoConnectType: 'x', subAppPerAppMode: 'x', subAppPerAppList: '\u0000' },
  ...{ subAppSocksAuthMode: '\u0000', subAppHttpAuthMode: '\u0000' },
  ...{ subAppIAutoDetect: 'x', subAppIHeaders: { 'Sort-Order': 'x' }, appLinkEnable: 'x' },
  ...{ subExternalUpdateMinutes: 1, trustedProxyCIDRs: 'x/y', datepicker: 'maya' },
};

test.serial('a wrong value is refused with the name of its setting, and changes nothing', async (t) => {
  const all = () => panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  const before = await all();
  const named = Object.keys(before).filter((name) => /^sub[A-Z]/.test(name) && !(name in WRONG));
  t.deepEqual(named, [], 'each setting has a wrong value here');
  for (const [name, value] of Object.entries(WRONG)) {
    const { status, body } = await panel.call('/panel/api/setting/update', { body: { [name]: value } });
    t.is(status, 400, name);
    t.true(body.msg.includes(name), `${name}: ${body.msg}`);
  }
  t.deepEqual(await all(), before);
});
