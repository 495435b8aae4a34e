// Settings that nobody has saved: the preview is what a fetch would get after a save, and nothing else knows of them.
import test from 'ava';
import { contribute, definePlugin, setting, text as textSchema } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { Formats, type ListFormat } from '../contract.js';
import { IGNORED, STORED, TRIED, type Tried, UNSEEN } from './tried-settings.js';

const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
const PATH = '/panel/api/x/subscription/preview';
const UPDATE = '/panel/api/setting/update';
let isBroken = false;
const kitchen = definePlugin({
  name: 'kitchen',
  version: '1.0.0',
  api: 1,
  about: 'A format with a secret, for a test.',
  settings: {
    kitchenKey: setting(textSchema(), 'stored-key', 'a secret', { secret: true }),
    kitchenWord: setting(textSchema(), 'word', 'a word'),
  },
  contributes: ({ settings }) => [
    contribute(Formats, {
      name: 'kitchen',
      contentType: 'text/plain',
      prefix: () => '/kitchen/',
      cannot: () => undefined,
      compile: () => () => 'x',
      body: () => {
        if (isBroken) throw new Error('out of order');
        return `${settings.read().kitchenWord} ${settings.read().kitchenKey}`;
      },
    } satisfies ListFormat),
  ],
});

interface Shown {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly formats: readonly string[];
  readonly without: readonly string[];
  readonly unfetched: readonly string[];
}
let panel: TestPanel;
const set = (body: object) => panel.get(UPDATE, { body });
const all = () => panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
const trial = (settings: object, ask: Tried['ask'] = {}) =>
  panel.get<Shown>(PATH, { body: { email: 'ann', ...ask, settings } });
const stored = (ask: Tried['ask'] = {}) =>
  panel.get<Shown>(
    `/panel/api/setting/subscriptionPreview?${new URLSearchParams({ email: 'ann', ...ask }).toString()}`,
  );
const fetched = async (path = '/s/ann') => {
  const answer = await fetch(panel.subscriptionUrl + path, { headers: { 'user-agent': 'test' } });
  return [
    answer.status,
    answer.headers.get('etag'),
    answer.headers.get('profile-title'),
    await answer.text(),
  ];
};
const part = ({ status, headers, body }: Shown) => ({ status, headers, body });

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, kitchen], clock });
  const inbound = await panel.addInbound({ remark: 'in', port: 20_001 });
  const second = await panel.addInbound({ remark: 'two', port: 20_002 });
  await panel.addClient('ann', [inbound, second], { subId: 'ann' });
  const third = await panel.addInbound({ remark: 'three', port: 20_003 });
  await panel.addClient('alone', [third], { subId: 'alone' });
  await panel.addClient('one', [inbound], { subId: 'one' });
  await panel.addClient('off', [inbound], { subId: 'off', enable: false });
  await panel.addClient('old', [inbound], { subId: 'old', expiryTime: clock.now() - 1000 });
  await panel.addClient('used', [inbound], { subId: 'used', totalGB: 1 });
  await panel.get('/panel/api/clients/updateTraffic/used', { body: { upload: 10, download: 0 } });
  // Midnight in Berlin.
  const expiryTime = Date.UTC(2026, 0, 31, 23);
  await panel.addClient('month', [inbound], { subId: 'month', resetDay: 1, expiryTime });
  await panel.get('/panel/api/sub-balancers', {
    body: { remark: 'both', inboundIds: [inbound, second], strategy: 'leastPing' },
  });
  await set(STORED);
});
test.after.always(() => panel[Symbol.asyncDispose]());

test.serial('every setting of the subscription is tried here, or is none of a preview', async (t) => {
  const names = Object.keys(await all()).filter(
    (name) => /^(?:sub[A-Z]|json|alt|remark)/.test(name) && name !== 'subExternalUpdateMinutes',
  );
  t.deepEqual(
    names.filter((name) => !(name in TRIED) && !UNSEEN.includes(name) && !IGNORED.includes(name)),
    [],
  );
  t.true(names.length > 70);
});

test.serial('each setting changes what a save would change', async (t) => {
  const before = await all();
  for (const [name, { value, beside = {}, ask }] of Object.entries(TRIED)) {
    const without = await trial(beside, ask);
    const tried = await trial({ ...beside, [name]: value }, ask);
    t.notDeepEqual(
      [part(tried), tried.formats],
      [part(without), without.formats],
      `${name} changes what is shown`,
    );
    t.deepEqual(tried.without, [], name);
    t.deepEqual(await all(), before, `${name} is not stored`);
    await set({ ...beside, [name]: value });
    t.deepEqual(part(await stored(ask)), part(tried), `${name}, saved`);
    const names = [name, ...Object.keys(beside)];
    await set(Object.fromEntries(names.map((one) => [one, before[one]])));
  }
});

test.serial('an alias is a name of its setting', async (t) => {
  const { without } = await trial({ subJsonPath: '/k/', subAltPath: '/l/' });
  t.deepEqual(without, []);
  await refused(
    t,
    panel,
    PATH,
    { body: { settings: { subJsonPath: '/s/' } } },
    { status: 409, code: 'SUBSCRIPTION_PATH_TAKEN', field: 'jsonPath' },
  );
});

test.serial('what changes no preview is named, and is not read', async (t) => {
  const sent = {
    ...Object.fromEntries(IGNORED.map((name) => [name, 'not even valid'])),
    ...{ kitchenKey: 'typed-key', nobodyKnows: 1, webPort: 'x', timeLocation: 'Mars' },
  };
  const tried = await trial({ ...sent, kitchenWord: 'typed-word' }, { path: 'kitchen' });
  t.deepEqual([...tried.without].sort(), Object.keys(sent).sort());
  t.is(tried.body, 'typed-word stored-key');
  t.notRegex(JSON.stringify(tried), /typed-key/);
});

test.serial(
  'a text at a URL is fetched after a save, and the preview says that it is not there',
  async (t) => {
    const url = 'https://rules.example/list';
    const tried = await trial({ subEnableRouting: true, subRoutingRules: url, subSupportUrl: url });
    t.deepEqual(tried.unfetched, ['subRoutingRules']);
    t.is(tried.headers['Routing'], undefined);
    t.is(tried.headers['Support-Url'], url);
  },
);

test.serial('bad input is refused by the name of its field, as a save refuses it', async (t) => {
  const invalid = { status: 400, code: 'KERNEL_INVALID' };
  for (const [body, field] of [
    [{ settings: { subUpdates: -1 } }, 'subUpdates'],
    [{ settings: { subTitle: 'a\nb', subUpdates: 3 } }, 'subTitle'],
    [{ settings: { subResponseRules: [{ agent: '(' }] } }, 'subResponseRules'],
    [{ settings: { subAltRules: 'DOMAIN,a,Nobody' } }, 'subAltRules'],
    [{ settings: [] }, 'settings'],
    [{ settings: 'subTitle' }, 'settings'],
    [{ email: '', settings: {} }, 'email'],
    [{ agent: 'a'.repeat(1000) }, 'agent'],
  ] as const)
    await refused(t, panel, PATH, { body }, { ...invalid, field });
  const both = await panel.call<{ issues: { path: string }[] }>(PATH, {
    body: { settings: { subUpdates: -1, remarkTemplate: 'a\u0000' } },
  });
  t.deepEqual(both.body.obj.issues.map(({ path }) => path).sort(), ['remarkTemplate', 'subUpdates']);
  await refused(
    t,
    panel,
    PATH,
    { body: { settings: { subPath: STORED.jsonPath } } },
    { status: 409, code: 'SUBSCRIPTION_PATH_TAKEN', field: 'subPath' },
  );
  await refused(
    t,
    panel,
    PATH,
    { body: { email: 'nobody', settings: { subTitle: 'x' } } },
    { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' },
  );
  await refused(
    t,
    panel,
    PATH,
    { body: { path: 'json', settings: { subEnable: false } } },
    { status: 404, code: 'KERNEL_NOT_FOUND' },
  );
  const huge = await panel.call(PATH, { body: { settings: { subJsonRules: 'x'.repeat(2 ** 20) } } });
  t.is(huge.status, 413);
});

test.serial('a format that fails leaves the settings as they are', async (t) => {
  isBroken = true;
  const failed = await panel.call(PATH, {
    body: { email: 'ann', path: 'kitchen', settings: { remarkTemplate: 'typed', kitchenWord: 'typed' } },
  });
  isBroken = false;
  t.is(failed.status, 503);
  t.is((await fetched('/kitchen/ann')).at(-1), 'word stored-key');
  t.notRegex(String((await fetched()).at(-1)), /typed/);
});

test.serial('fetches beside many previews know nothing of them', async (t) => {
  const paths = ['/s/ann', '/j/ann', '/a/ann', '/b/ann'];
  await set({ subJsonEnable: true, subAltEnable: true, subSingBoxEnable: true });
  const before = await Promise.all(paths.map(fetched));
  const typed = {
    ...{
      remarkTemplate: 'typed {{EMAIL}}',
      subTitle: 'typed',
      subEncrypt: true,
      subJsonMux: '{"concurrency":8}',
    },
    ...{
      subPath: '/typed/',
      subJsonEnable: false,
      subAltEnableRouting: true,
      subAltRules: 'DOMAIN,a.b,DIRECT',
    },
    ...{ subResponseRules: [{ agent: 'test', block: true }], subDomain: 'typed.example' },
  };
  await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const tried = await trial({ ...typed, subTitle: `typed ${i}` });
      t.is(tried.headers['Profile-Title'], `base64:${Buffer.from(`typed ${i}`).toString('base64')}`);
      const at = i % paths.length;
      t.deepEqual(await fetched(paths[at]), before[at]);
    }),
  );
  t.is((await fetched('/typed/ann'))[0], 404);
  await set({ subJsonEnable: false, subAltEnable: false, subSingBoxEnable: false });
  t.deepEqual(
    panel.faults.filter((fault) => !fault.startsWith('kitchen')),
    [],
  );
});
