// Entries that a third-party plugin adds to others' lists and that cannot be: it is left out with a sentence, and the rest boots.
import test from 'ava';
import {
  definePlugin,
  contribute,
  extensionPoint,
  int,
  type Plugin,
  setting,
  type SettingGroup,
} from '../../kernel/index.js';
import { Protocols } from '../../plugins/inbounds/contract.js';
import { Channels } from '../../plugins/notifications/contract.js';
import { LiveTypes } from '../../plugins/realtime/contract.js';
import { SettingGroups } from '../../plugins/settings/contract.js';
import { Formats } from '../../plugins/subscription/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

type Entries = Parameters<typeof definePlugin>[0]['contributes'];
const thirdParty = (name: string, entries: Entries): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    ...(entries && { contributes: entries }),
  });
const settingsOf =
  (...groups: object[]): Entries =>
  () =>
    groups.map((group) => contribute(SettingGroups, { group: group as SettingGroup }));
const crash = () => {
  throw new Error('no dough');
};

/** By name, with what is said. The names come before those of the panel's own plugins: who is built first is not who is right. */
const wrong: readonly (readonly [string, Entries, string])[] = [
  [
    'a-one',
    settingsOf({ 'a-one.heat': setting(int(), 1, 'x') }, { 'a-one.heat': setting(int(), 2, 'x') }),
    'cannot add to settings/SettingGroups: the setting a-one.heat already exists, in plugin a-one; choose another name',
  ],
  [
    'a-two',
    settingsOf({ 'a-two.heat': setting(int().min(10), 1, 'x') }),
    'cannot add to settings/SettingGroups: the setting a-two.heat is of no use: its initial value does not fit: a-two.heat must be greater than or equal to 10',
  ],
  [
    'a-three',
    settingsOf({ 'a-three.heat': { initial: 1 } }),
    'cannot add to settings/SettingGroups: the setting a-three.heat is of no use: it is not made with setting(schema, initial, about): Cannot read',
  ],
  [
    'a-four',
    settingsOf({ 'a-four.heat': setting(int(), crash, 'x') }),
    'cannot add to settings/SettingGroups: the setting a-four.heat is of no use: it is not made with setting(schema, initial, about): no dough',
  ],
  ['a-five', () => [contribute(SettingGroups, {} as never)], 'could not be built: Cannot'],
  [
    'a-six',
    () => [contribute(Protocols, { name: 'vless' } as never)],
    'cannot add to inbounds/Protocols: the protocol vless already exists, in plugin inbounds; choose another name',
  ],
  [
    'a-seven',
    () => [contribute(LiveTypes, { type: 'status' })],
    'cannot add to realtime/LiveTypes: live messages of the type "status" exist already, in plugin realtime; choose another name',
  ],
  [
    'a-nine',
    () =>
      [1, 2].map(() =>
        contribute(Channels, { name: 'a-nine', isOn: () => true, send: async () => undefined }),
      ),
    'cannot add to notifications/Channels: the channel a-nine already exists, in plugin a-nine; choose another name',
  ],
  [
    'a-eight',
    () =>
      ['', '.b', ''].map((end) =>
        contribute(Formats, {
          name: `a-eight${end}`,
          contentType: 'text/plain',
          prefix: () => undefined,
          cannot: () => undefined,
          compile: () => () => '',
          body: () => '',
        }),
      ),
    'cannot add to subscription/Formats: the format a-eight already exists, in plugin a-eight; choose another name',
  ],
];

test('each is left out with its own sentence, and the panel works', async (t) => {
  const fine = thirdParty('fine', settingsOf({ 'fine.heat': setting(int(), 7, 'x') }));
  const outside = [...wrong.map(([name, entries]) => thirdParty(name, entries)), fine];
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside, partial: true });
  const states = panel.kernel.plugins();
  for (const [name, , said] of wrong) {
    const { state, reason = '' } = states.find((plugin) => plugin.name === name) ?? {};
    t.is(state, 'failed', name);
    t.true(reason.startsWith(`plugin ${name} ${said}`), reason);
  }
  t.deepEqual(
    states.filter(({ state, name }) => state !== 'running' && !name.startsWith('a-')).map(({ name }) => name),
    [],
  );
  const settings = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.deepEqual(
    Object.keys(settings).filter((key) => key.includes('.')),
    ['fine.heat'],
  );
  await panel.addClient('ada', [await panel.addInbound({ protocol: 'vless' })]);
});

test('the panel’s own entries come first, whatever is built first', async (t) => {
  const Bread = extensionPoint<string>('oven', 'Bread', (loaf, _, others) =>
    others.some(({ value }) => value === loaf) ? `${loaf} is there` : undefined,
  );
  const seen: string[] = [];
  const oven = definePlugin({
    name: 'oven',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [contribute(Bread, 'rye')],
    start: ({ contributions }) =>
      void seen.push(...contributions(Bread).map(({ plugin, value }) => `${plugin} ${value}`)),
  });
  const outside = [
    thirdParty('a-baker', () => [contribute(Bread, 'wheat')]),
    thirdParty('a-thief', () => [contribute(Bread, 'rye')]),
  ];
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, oven],
    outside,
    partial: true,
  });
  t.deepEqual(seen, ['oven rye', 'a-baker wheat']);
  t.is(
    panel.kernel.plugins().find(({ name }) => name === 'a-thief')?.reason,
    'plugin a-thief cannot add to oven/Bread: rye is there',
  );
});
