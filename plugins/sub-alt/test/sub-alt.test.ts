// The YAML over HTTP, from a panel without a core.
import test from 'ava';
import { parse } from 'yaml';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface File {
  readonly proxies: readonly { readonly name: string; readonly server: string; readonly uuid: string }[];
  readonly 'proxy-groups': readonly { readonly proxies: readonly string[] }[];
  readonly rules: readonly string[];
}
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push(await panel.addInbound({ remark: 'DIRECT' }));
  await panel.addClient('ann', ids, { subId: 'ann' });
  await panel.addClient('bob', ids.slice(0, 1), { subId: 'bob', enable: false });
});
test.after.always(() => panel[Symbol.asyncDispose]());

const set = (values: object) => panel.call('/panel/api/setting/update', { body: values });
const get = (subId: string, path = '/alt/') => fetch(`${panel.subscriptionUrl}${path}${subId}`);
const fileOf = async (subId: string): Promise<File> => parse(await (await get(subId)).text()) as File;

test.serial('it is off on a fresh panel, and on at once', async (t) => {
  const { altFormatPath, subAltEnable } = await panel.get<Record<string, unknown>>('/panel/api/setting/all', {
    method: 'POST',
  });
  t.false(subAltEnable);
  t.regex(String(altFormatPath), /^\/[a-z0-9]{16}\/$/);
  t.is((await get('ann', String(altFormatPath))).status, 404);
  t.is(
    (await set({ subAltEnable: true, altFormatPath: '/alt/', remarkTemplate: '{{INBOUND}}' })).status,
    200,
  );
  const answer = await get('ann');
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'text/yaml; charset=utf-8');
  t.truthy(answer.headers.get('subscription-userinfo'));
});

test.serial('names are unique, and none is that of a group', async (t) => {
  const { proxies, rules, 'proxy-groups': groups } = await fileOf('ann');
  const names = proxies.map(({ name }) => name);
  t.deepEqual(names, ['DIRECT (proxy)', 'DIRECT-2', 'DIRECT-3']);
  t.deepEqual(groups[0]?.proxies, [...names, 'DIRECT']);
  t.deepEqual(rules, ['MATCH,PROXY']);
  t.is(proxies[0]?.server, '127.0.0.1');
});

test.serial('a client that may use nothing gets no proxy, and no way out beside them', async (t) => {
  const file = await fileOf('bob');
  t.deepEqual(file.proxies, []);
  t.deepEqual(file['proxy-groups'][0]?.proxies, ['REJECT', 'DIRECT']);
});

test.serial(
  'a template is used once it is switched on, and refused with the place of its mistake',
  async (t) => {
    t.is((await set({ subAltRules: 'DOMAIN,a.b,DIRECT' })).status, 200);
    t.deepEqual((await fileOf('ann')).rules, ['MATCH,PROXY']);
    await set({ subAltEnableRouting: true });
    t.deepEqual((await fileOf('ann')).rules, ['DOMAIN,a.b,DIRECT', 'MATCH,PROXY']);
    const { status, body } = await set({ subAltRules: 'DOMAIN,a.b,Nobody' });
    t.is(status, 400);
    t.regex(body.msg, /subAltRules.*rules\[0\]: there is no proxy or group Nobody/);
    t.deepEqual((await fileOf('ann')).rules, ['DOMAIN,a.b,DIRECT', 'MATCH,PROXY']);
  },
);

test.serial('the path has an alias as a setting', async (t) => {
  t.is((await set({ subAltPath: '/yaml/' })).status, 200);
  t.is((await get('ann', '/yaml/')).status, 200);
  await set({ altFormatPath: '/alt/' });
});

test.serial('the paths that everybody knows are served once they are switched on', async (t) => {
  const vmess = await panel.addInbound({ protocol: 'vmess', remark: 'old' });
  await panel.addClient('cat', [vmess, await panel.addInbound({ remark: 'new' })], { subId: 'cat' });
  for (const path of ['/mihomo/', '/clash-legacy/']) t.is((await get('cat', path)).status, 404, path);
  await set({ subAltFixedPaths: true });
  const [alt, mihomo] = [await get('cat'), await get('cat', '/mihomo/')];
  t.is(await mihomo.text(), await alt.text());
  t.is(mihomo.headers.get('etag'), alt.headers.get('etag'));
  const legacy = async () => {
    const file = parse(await (await get('cat', '/clash-legacy/')).text()) as {
      proxies: Record<string, unknown>[];
    };
    return file.proxies;
  };
  const [old, ...others] = await legacy();
  t.deepEqual(others, [], 'the first Clash has no vless');
  t.deepEqual(Object.keys(old ?? {}).sort(), [
    ...['alterId', 'cipher', 'name', 'network', 'port', 'server', 'tls', 'type', 'udp', 'uuid'],
  ]);
  // What a host keeps out of the format is kept out of its reduced form.
  const host = { hosts: ['a.example:443'], remark: 'h', excludeFromSubTypes: ['alt'] };
  await panel.get('/panel/api/hosts/add', { body: { inboundIds: [vmess], ...host } });
  t.deepEqual(await legacy(), []);
  // Queries, pages and the places of devices take the slow path.
  const file = await get('cat?view=raw', '/mihomo/');
  t.is(file.headers.get('content-disposition'), 'attachment; filename="subscription.yaml"');
  t.is((await get('cat/hwid-status', '/mihomo/')).status, 200);
  t.is((await get('nobody', '/mihomo/')).status, 404);
  const page = await (await get('cat?html=1', '/mihomo/')).text();
  t.is(page.split('/alt/cat').length > 1, true);
  t.notRegex(page, /clash-legacy|mihomo\//);
  for (const path of ['/alt/', '/mihomo/', '/clash-legacy/']) {
    const head = await fetch(`${panel.subscriptionUrl}${path}cat`, { method: 'HEAD' });
    t.deepEqual([head.status, await head.text()], [200, ''], path);
    t.truthy(head.headers.get('subscription-userinfo'));
  }
  // Another format has the name: its path counts, and the alias is not served.
  t.is((await set({ subPath: '/mihomo/', subEncrypt: false })).status, 200);
  t.regex(await (await get('cat', '/mihomo/')).text(), /^vmess:/);
  t.regex(panel.log.join('\n'), /a subscription format is not served.*"format":"alt","servedThere":"links"/);
});
