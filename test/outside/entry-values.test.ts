// What the functions of others' entries answer, in lists that the panel asks all the time: junk costs them their own work, with their name.
import test from 'ava';
import { contribute, openObject, type Plugin, definePlugin } from '../../kernel/index.js';
import { PresenceSources } from '../../plugins/clients/contract.js';
import { containedSource } from '../../plugins/engine/users/contained-source.js';
import { type Protocol, Protocols } from '../../plugins/inbounds/contract.js';
import { Channels } from '../../plugins/notifications/contract.js';
import { Formats } from '../../plugins/subscription/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

const weeds = (
  name: string,
  entries: NonNullable<Parameters<typeof definePlugin>[0]['contributes']>,
): Plugin => definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', contributes: entries });
const blamed = (panel: TestPanel): string[] => [
  ...new Set(
    panel.log
      .map((line) => JSON.parse(line) as { msg: string; plugin?: string })
      .flatMap(({ msg, plugin }) => (msg === 'plugin fault' ? [plugin ?? ''] : [])),
  ),
];

test('a protocol that answers junk costs its own inbounds, and each of its functions is named', async (t) => {
  const engine = new FakeEngine();
  let wrong: Partial<Record<keyof Protocol, unknown>> = {};
  const answer = (key: keyof Protocol, right: unknown): never => (key in wrong ? wrong[key] : right) as never;
  let uuid: unknown = 'an-id';
  const protocol: Protocol = {
    name: 'weed',
    settings: openObject(),
    coreSettings: () => answer('coreSettings', {}),
    account: ({ uuid }) => answer('account', { protocol: 'weed', id: uuid }),
    entry: (_inbound, base) =>
      answer('entry', {
        ...base,
        account: { protocol: 'vless', id: () => uuid as string, flow: '', encryption: 'none' },
      }),
  };
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [weeds('a-weed', () => [contribute(Protocols, protocol)])],
  });
  const own = await panel.addInbound();
  const { id } = await panel.get<{ id: number }>('/panel/api/inbounds/add', {
    body: { port: 4443, protocol: 'weed', tag: 'weed-1' },
  });
  const ada = await panel.addClient('ada', [own, id]);
  const bob = await panel.addClient('bob', [own]);
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = async (subId: string) => (await fetch(`${panel.subscriptionUrl}${subPath}${subId}`)).status;
  const edited = (inbound: number, remark: string) =>
    panel.call(`/panel/api/inbounds/update/${inbound}`, { body: { remark } });
  t.deepEqual([await fetched(ada.subId), await fetched(bob.subId)], [200, 200]);
  t.is(engine.inbounds.length, 2);

  wrong = { coreSettings: 42 };
  const refused = await edited(id, 'x');
  t.is(refused.status, 503);
  t.regex(refused.body.msg, /the protocol weed failed/);
  t.is((await edited(own, 'goes on')).status, 200);
  t.is(engine.inbounds.length, 1, 'the others are in the config');
  wrong = { coreSettings: { far: 10n } };
  t.is((await edited(id, 'x')).status, 503);
  wrong = { account: 'ada' };
  t.is((await edited(id, 'x')).status, 503, 'said when it is saved');
  t.is((await edited(own, 'still')).status, 200);
  t.is((await panel.call('/panel/api/clients/update/bob', { body: { comment: 'x' } })).status, 200);
  t.is((await panel.call('/panel/api/inbounds/options')).status, 200);
  // A list that lacks some of its entries would make programs forget them.
  for (const entry of [42, { port: 'far' }]) {
    wrong = { entry };
    t.is((await edited(id, 'y')).status, 200);
    t.deepEqual([await fetched(ada.subId), await fetched(bob.subId)], [503, 200]);
  }
  wrong = {};
  t.is((await edited(id, 'y')).status, 200);
  uuid = 42;
  t.deepEqual([await fetched(ada.subId), await fetched(bob.subId)], [503, 200]);
  uuid = 'an-id';
  t.is((await edited(id, 'z')).status, 200);
  t.is(await fetched(ada.subId), 200);
  t.is(engine.inbounds.length, 2);
  t.deepEqual(blamed(panel), ['a-weed']);
});

test('formats, channels and sources of presence that answer junk are named, and nobody else', async (t) => {
  const junk = (value: unknown) => (() => value) as never;
  const entries = () => [
    contribute(Formats, {
      name: 'a-weed',
      contentType: 'text/plain',
      prefix: () => '/a-weed/',
      cannot: () => undefined,
      compile: () => () => 'line',
      body: junk(42),
    }),
    contribute(PresenceSources, { isOnline: (() => Promise.reject(new Error('weeds'))) as never }),
    contribute(Channels, { name: 'a-weed', isOn: () => true, send: junk({ ok: false }) }),
    contribute(Channels, { name: 'a-weed.maybe', isOn: junk('perhaps'), send: junk(undefined) }),
  ];
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [weeds('a-weed', entries)],
  });
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  t.is((await fetch(`${panel.subscriptionUrl}/a-weed/${ada.subId}`)).status, 503);
  t.is((await panel.call('/panel/api/clients/list/paged')).status, 200);
  t.is((await panel.get<unknown[]>('/panel/api/clients/list')).length, 1);
  await panel.get('/panel/api/notifications/test', { method: 'POST' });
  t.deepEqual(blamed(panel), ['a-weed']);
  const said = panel.log.join('\n');
  for (const where of [
    'body of the format',
    'a source of presence',
    'send of the channel',
    'isOn of the channel',
  ])
    t.true(said.includes(where), where);
});

test('entries that cannot work are refused at the start, with a sentence', async (t) => {
  const wrong: readonly (readonly [string, Parameters<typeof weeds>[1], RegExp])[] = [
    [
      'a-one',
      () => [contribute(Protocols, { name: 'a-one', settings: openObject() } as never)],
      /needs a function coreSettings/,
    ],
    ['a-two', () => [contribute(Protocols, { name: 'a-two', settings: 42 } as never)], /must be a schema/],
    [
      'a-three',
      () => [contribute(Formats, { name: 'a-three', contentType: 'a\nb' } as never)],
      /contentType of the format a-three/,
    ],
    [
      'a-four',
      () => [contribute(Channels, { name: 'a-four' } as never)],
      /needs the functions isOn and send/,
    ],
  ];
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: wrong.map(([name, entries]) => weeds(name, entries)),
    partial: true,
  });
  const plugins =
    await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
  for (const [name, , reason] of wrong) {
    const listed = plugins.find((plugin) => plugin.name === name);
    t.is(listed?.state, 'failed', name);
    t.regex(listed?.reason ?? '', reason);
  }
});

test('a source of users of the core that fails or answers junk has fewer users, and says so once', (t) => {
  const faults: unknown[] = [];
  const good = { name: 'i1.c1', account: { protocol: 'vless', id: 'x' } };
  const users = [
    null,
    42,
    good,
    { ...good, name: 'ada' },
    { ...good, account: { protocol: 'vless', id: [7] } },
  ];
  const source = containedSource({
    plugin: 'weed',
    value: {
      user: () => 'ada' as never,
      *users() {
        yield* users as never[];
        throw new Error('weeds');
      },
    },
    fault: (_, error) => faults.push(error),
  });
  t.deepEqual([...source.users(1), ...source.users(1)], [good, good]);
  t.is(source.user({ inboundId: 1, clientId: 1 }), undefined);
  t.deepEqual(
    faults.map((error) => (error as Error).message.slice(0, 14)),
    ['it returned so', 'weeds'],
  );
});
