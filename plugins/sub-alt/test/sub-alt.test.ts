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
