// What plugins hear inside the write of a change of settings.
import test from 'ava';
import { definePlugin, setting, tap, text } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { groupProblem } from '../group-problem.js';
import { duringSettingsSave, settingChanges } from '../contract.js';

const part = { version: '1.0.0', api: 1, about: 'For a test.' } as const;

test('what was and what will be is told, of secrets neither, and by whom', async (t) => {
  const heard: unknown[] = [];
  const observer = definePlugin({
    ...part,
    name: 'a-mill',
    settings: {
      'a-mill.key': setting(text(), '', 'opens it', { secret: true }),
      'a-mill.name': setting(text(), 'old', 'what it is called'),
    },
    taps: () => [
      tap(duringSettingsSave, ({ changes, who }) => {
        heard.push(...changes, [who.kind, who.name, typeof who.session]);
      }),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [observer] });
  const update = (body: object) => panel.get('/panel/api/setting/update', { body });
  await update({ 'a-mill.key': 'first' });
  await update({ 'a-mill.key': 'second', 'a-mill.name': 'new' });
  const secret = { name: 'a-mill.key', before: '', after: '', secret: true };
  const who = ['session', 'admin', 'string'];
  t.deepEqual(heard, [
    secret,
    who,
    secret,
    { name: 'a-mill.name', before: 'old', after: 'new', secret: false },
    who,
  ]);
});

test('what a filter does to a setting that the environment holds is ignored, and it is named', async (t) => {
  const mover = definePlugin({
    ...part,
    name: 'a-mill',
    taps: () => [tap(settingChanges, (changes) => ({ ...changes, webBasePath: '/elsewhere/' }))],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [mover] });
  await panel.get('/panel/api/setting/update', { body: { pageSize: 7 } });
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.like(all, { pageSize: 7, pinned: { webBasePath: 'WEIR_BASE_PATH' } });
  t.not(all['webBasePath'], '/elsewhere/');
  t.regex(panel.faults.join(), /webBasePath is set by WEIR_BASE_PATH in the environment/);
});

test('a third-party plugin has the names that begin with its own and a dot', (t) => {
  const problem = (name: string) =>
    groupProblem(
      { group: { [name]: setting(text(), '', 'what it is') } },
      { name: 'a-mill', outside: true },
      [],
    );
  t.is(problem('a-mill.key'), undefined);
  for (const name of ['a-millstone', 'a-millstone.key', 'a-mill', 'key'])
    t.regex(problem(name) ?? '', /must be called a-mill\./, name);
});
