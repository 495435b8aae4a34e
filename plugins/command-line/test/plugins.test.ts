// `weir plugins`: what is on, and who is present at which hook.
import test from 'ava';
import {
  after,
  definePlugin,
  draft,
  event,
  guard,
  jsonRecord,
  type PluginsApi,
  type PluginState,
  stage,
  tap,
} from '../../../kernel/index.js';
import { HookRegistry } from '../../../kernel/hooks/registry.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { beforeClientSave } from '../../clients/contract.js';
import { askPanel } from '../channel.js';
import { declaredIn } from '../hooks.js';
import { pluginsCommand } from '../plugins.js';

/** A plugin that taps a hook of the clients, early, and one of its own that nobody else knows. */
const beforeTally = guard<object>('watcher/beforeTally');
/** A hook of its own that nobody taps. */
const tallied = event<object>('watcher/tallied');
const watcher = (name: string, at: number, strict = false) =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'Watches.',
    hooks: name === 'watcher' ? [beforeTally, tallied] : [],
    taps: () => [
      tap(beforeClientSave, () => undefined, { stage: at, strict }),
      tap(beforeTally, () => undefined),
    ],
  });

async function ask(panel: TestPanel, ...argv: string[]) {
  const said: string[] = [];
  const complained: string[] = [];
  const code = await askPanel(panel.dataDirectory, ['plugins', ...argv], {
    say: (line) => said.push(line),
    complain: (line) => complained.push(line),
  });
  return { code, said: said.join('\n'), complained: complained.join('\n') };
}

test('in a running panel: a hook, its owner, its doc and its taps in the order of their calls', async (t) => {
  const outside = [watcher('watcher', stage.LATE), watcher('scout', stage.FIRST, true)];
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside });
  const { code, said } = await ask(panel, '--explain', 'clients/beforeClientSave');
  t.is(code, 0);
  t.regex(
    said,
    /^clients\/beforeClientSave, a guard of clients \(running\)\n {2}Runs before clients are written; a refusal refuses the whole call\.\n {2}It is /,
  );
  const order = [...said.matchAll(/^ {2}\d+\. (\S+) +stage (-?\d+)(.*)$/gm)].map(([, plugin, at, rest]) => [
    plugin,
    Number(at),
    rest,
  ]);
  t.deepEqual(order[0], ['scout', stage.FIRST, ', strict: its failure fails the operation']);
  t.deepEqual(order.at(-1), ['watcher', stage.LATE, '']);
  t.is((await ask(panel, '--explain', 'beforeClientSave')).said, said, 'the short name is enough');

  const own = await ask(panel, '--explain', 'watcher/beforeTally');
  t.true(own.said.includes('a guard of watcher (running)\n  Its owner has not documented it.'), own.said);
  const untapped = await ask(panel, '--explain', 'tallied');
  t.regex(untapped.said, /^watcher\/tallied, an event of watcher \(running\)\n[\s\S]*No plugin taps it\.$/);
  t.is(await ask(panel, '--explain', 'trafficCounted').then((answer) => answer.code), 0);

  const unknown = await ask(panel, '--explain', 'clients/beforeClientSafe');
  t.deepEqual([unknown.code, unknown.said], [1, '']);
  t.regex(
    unknown.complained,
    /^there is no hook clients\/beforeClientSafe; did you mean clients\/beforeClientSave(?:, clients\/\w+)*\?$/,
  );
  t.is(
    (await ask(panel, '--explain', 'qqq')).complained,
    'there is no hook qqq; weir plugins --explain lists all of them',
  );

  const all = await ask(panel, '--explain');
  for (const [id, rest] of [
    ['clients/beforeClientSave', 'guard    scout, '],
    ['watcher/beforeTally', 'guard    scout, watcher'],
    ['kernel/afterKernelOpen', 'after    '],
  ] as const)
    t.regex(all.said, new RegExp(`^  ${id} +(?:${rest})`, 'm'));

  const listed = JSON.parse((await ask(panel, '--json')).said) as { name: string; state: string }[];
  t.deepEqual(
    listed.find(({ name }) => name === 'watcher'),
    panel.kernel.plugins().find(({ name }) => name === 'watcher') as never,
  );
  const plain = await ask(panel);
  for (const { name, state } of panel.kernel.plugins())
    t.regex(plain.said, new RegExp(`^${name} +\\S+ +${state} `, 'm'));
});

test('a doc is the comment right above, in one line', (t) => {
  const code =
    "/** Of another. */\nexport const x = 1;\n/**\n * When\n * it comes.\n */\nexport const beforeX = guard('a/beforeX');\nexport const y = event(\n  'a/y');\n";
  t.deepEqual(
    declaredIn('a', code, true).map(({ id, kind, doc }) => [id, kind, doc]),
    [
      ['a/beforeX', 'guard', 'When it comes.'],
      ['a/y', 'event', ''],
    ],
  );
});

test('shows disabled and faulty plugins; asks for the owner of an ambiguous name', async (t) => {
  const registry = new HookRegistry();
  const composeRain = draft<object, object>('well/composeRain', jsonRecord());
  const afterRain = after<object>('well/afterRain');
  registry.declare('well', [composeRain, afterRain]);
  const queue = undefined as never;
  const tapper = (name: string) => ({
    name,
    about: '',
    isOff: false,
    offReason: '',
    queue,
    fault: () => undefined,
  });
  registry.add(
    tapper('well'),
    tap(guard<object>('gone/beforeRain'), () => undefined),
  );
  registry.add(
    tapper('mill'),
    tap(composeRain, () => undefined),
  );
  registry.add(
    tapper('mill'),
    tap(afterRain, () => undefined),
  );
  registry.add(
    tapper('mill'),
    tap(after<object>('gone/afterRain'), () => undefined),
  );
  const state = (name: string, faulty: boolean): PluginState => ({
    name,
    version: '1',
    about: '',
    outside: true,
    state: faulty ? 'faulty' : 'running',
    reason: '',
  });
  const plugins: PluginsApi = {
    list: () => [state('well', false), state('mill', true)],
    hooks: () => [],
    taps: () => registry.taps,
    leaveOut: () => undefined,
  };
  const say = async (explain: string) => {
    const said: string[] = [];
    await pluginsCommand(plugins).run({
      options: { explain } as never,
      who: { kind: 'command', name: 'plugins' },
      say: (line) => said.push(line),
      folder: '/',
      signal: new AbortController().signal,
    });
    return said.join('\n');
  };
  t.true((await say('gone/beforeRain')).includes('of gone (disabled, so it is never called)'));
  t.regex(await say('well/composeRain'), /1\. mill {2}stage 0, switched off after repeated faults: skipped$/);
  t.regex(
    await say('well/afterRain'),
    /1\. mill {2}stage 0, switched off after repeated faults$/,
    'memory is kept up to date all the same',
  );
  await t.throwsAsync(say('afterRain'), {
    message: 'several hooks are called afterRain: gone/afterRain, well/afterRain',
  });
});
