// Plugins from outside that end the process, or keep it for themselves: each is named, the exit code says that something
// went wrong, and one that does so again and again is left out. In processes of their own, as in life.
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type LogLine, PanelProcess } from '../harness/panel-process.js';
import { folderOf, source, stranger, writeFiles } from './stranger.js';

const WAYS = `{
  none: () => undefined,
  exit: () => process.exit(),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGTERM'),
  throw: () => { throw new Error('weeds'); },
  leak: () => void Promise.reject(new Error('leaked')),
  loop: () => { for (;;) Math.random(); },
  turns: async () => { for (;;) await undefined; },
  block: () => void execSync('sleep 4'),
  pollute: () => { Object.prototype.weeds = 'everywhere'; },
  odd: () => void Promise.reject(new Proxy({}, { getPrototypeOf() { throw new Error('trap'); } })),
}`;
/** Does in a moment of its own what TEST_ROGUE says. */
const ROGUE = `import { execSync } from 'node:child_process';\n${source(
  'rogue',
  `taps: () => [tap(kernelReady, () => void setTimeout(() => (${WAYS})[process.env.TEST_ROGUE ?? 'none'](), 300))]`,
  'kernelReady, tap',
)}`;

async function folderWithRogue(t: ExecutionContext): Promise<string> {
  const folder = await folderOf(t);
  await writeFiles(folder, { 'weir.json': { plugins: { [await stranger(folder, 'rogue', ROGUE)]: true } } });
  return folder;
}

async function open(
  t: ExecutionContext,
  dataDirectory: string,
  way: string,
  limits: object = {},
  anonymous = true,
): Promise<PanelProcess> {
  const panel = await PanelProcess.start({
    dataDirectory,
    anonymous,
    env: {
      WEIR_ENGINE_BIN: '/nowhere/xray',
      WEIR_ENGINE_INSTALL: 'off',
      TEST_ROGUE: way,
      TEST_PANEL_LIMITS: JSON.stringify(limits),
    },
  });
  t.teardown(() => panel.kill('SIGKILL'));
  return panel;
}

/** Starts a panel in which the plugin does this, and waits for the end that comes of it. */
async function endOf(t: ExecutionContext, folder: string, way: string, limits = {}): Promise<PanelProcess> {
  const panel = await open(t, folder, way, limits);
  await panel.until(() => panel.end !== undefined, 'the process ends');
  return panel;
}

const stateOf = async (panel: PanelProcess) =>
  (await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins')).find(
    ({ name }) => name === 'rogue',
  );

const firstFrame = (line: LogLine | undefined): string => String(line?.['stack']).split(',')[0] ?? '';

for (const [way, call] of [
  ['exit', 'process.exit()'],
  ['abort', 'process.abort()'],
  ['kill', 'process.kill() with SIGTERM'],
] as const)
  test.serial(`${call} of a plugin is logged with its stack, and the exit code is 70`, async (t) => {
    const panel = await endOf(t, await folderWithRogue(t), way);
    t.deepEqual(panel.end, { code: 70, signal: null });
    const line = panel.said('a plugin ended the process');
    t.like(line, { level: 'error', plugin: 'rogue', call });
    t.regex(firstFrame(line), /rogue\/index\.js:/);
  });

test.serial(
  'a plugin that ended the process twice soon after its start is left out until it is updated or switched on',
  async (t) => {
    const folder = await folderWithRogue(t);
    for (const way of ['throw', 'exit']) t.is((await endOf(t, folder, way)).end?.code, 70);
    const reason =
      /^the plugin rogue has ended the process 2 times within a minute of starting \(the last time, \S+, it called process\.exit\(\)\); update it, or enable it to try it again$/;

    const third = await open(t, folder, 'none', {}, false);
    t.like(await stateOf(third), { state: 'failed' });
    t.regex((await stateOf(third))?.reason ?? '', reason);
    t.regex(
      String(
        third.log.find(({ msg, plugin }) => msg === 'a plugin is left out' && plugin === 'rogue')?.['reason'],
      ),
      reason,
    );
    const on = await third.call('/panel/api/system/plugins/rogue', { body: { enable: true } });
    t.is(on.status, 202, on.text);
    await third.until(() => third.starts === 2, 'the panel is back');
    t.like(await stateOf(third), { state: 'running', reason: '' });
    await third.kill('SIGTERM');

    for (const way of ['exit', 'throw']) await endOf(t, folder, way);
    // Another build of the same version is another plugin.
    await utimes(join(folder, 'rogue', 'index.js'), new Date(), new Date());
    t.like(await stateOf(await open(t, folder, 'none', {}, false)), { state: 'running' });
  },
);

test.serial('an error that a plugin did not catch names it in a sentence', async (t) => {
  const panel = await endOf(t, await folderWithRogue(t), 'throw');
  t.is(panel.end?.code, 70);
  t.like(panel.said('a plugin ended the process with an error that it did not catch'), {
    level: 'error',
    plugin: 'rogue',
    error: { message: 'weeds' },
  });
});

test.serial('nobody is blamed for a kill from outside, nor for an end after a while', async (t) => {
  const folder = await folderWithRogue(t);
  for (let i = 0; i < 3; i++) await (await open(t, folder, 'none')).kill('SIGKILL');
  await endOf(t, folder, 'exit', { early: 1 });
  await t.throwsAsync(readFile(join(folder, 'plugin-ends.json')), { code: 'ENOENT' });
  // One end is written down, and forgotten once the plugin has run for long enough.
  await endOf(t, folder, 'exit');
  t.regex(await readFile(join(folder, 'plugin-ends.json'), 'utf8'), /"times": 1/);
  const panel = await open(t, folder, 'none', { early: 1_500 });
  const gone = () =>
    readFile(join(folder, 'plugin-ends.json')).then(
      () => false,
      () => true,
    );
  await panel.until(gone, 'it is forgotten');
});

test.serial('a leaked rejection is a fault of the plugin, and the panel goes on', async (t) => {
  const panel = await open(t, await folderWithRogue(t), 'leak', {}, false);
  await panel.until(() => panel.said('plugin fault') !== undefined, 'the fault is logged');
  t.like(panel.said('plugin fault'), {
    plugin: 'rogue',
    where: 'an unhandled promise rejection',
    error: { message: 'leaked' },
  });
  t.like(await stateOf(panel), { state: 'running' });
});

for (const way of ['loop', 'turns'])
  test.serial(
    `an endless loop (${way}) is named while it lasts, and ends the process in the end`,
    async (t) => {
      const folder = await folderWithRogue(t);
      const panel = await endOf(t, folder, way, { loop: 600, endless: 2_400 });
      t.deepEqual(panel.end, { code: 70, signal: null });
      const named = panel.said('a plugin blocks the event loop');
      t.like(named, { level: 'error', plugin: 'rogue' });
      t.regex(firstFrame(named), /rogue\/index\.js:/);
      t.like(panel.said('a plugin blocked the event loop for too long; exiting'), {
        plugin: 'rogue',
        exitCode: 70,
      });
      t.regex(await readFile(join(folder, 'plugin-ends.json'), 'utf8'), /it blocked the event loop/);
    },
  );

test.serial('a call that does not return is noticed, and named once it has', async (t) => {
  const panel = await open(t, await folderWithRogue(t), 'block', { loop: 300, endless: 900 });
  await panel.until(() => panel.said('the event loop runs again') !== undefined, 'the event loop runs again');
  t.truthy(panel.said('a call that does not return blocks the event loop'));
  t.like(panel.said('a plugin blocks the event loop'), { plugin: 'rogue' });
  t.is(panel.end, undefined);
});

test.serial('what a plugin would add to every object ends in an error of its own', async (t) => {
  const panel = await endOf(t, await folderWithRogue(t), 'pollute');
  t.is(panel.end?.code, 70);
  t.like(panel.said('a plugin ended the process with an error that it did not catch'), {
    plugin: 'rogue',
    error: { message: 'Cannot add property weeds, object is not extensible' },
  });
});

test.serial('a rejection that cannot even be looked at is logged, and the panel goes on', async (t) => {
  const panel = await open(t, await folderWithRogue(t), 'odd');
  await panel.until(() => panel.said('unhandled promise rejection') !== undefined, 'it is logged');
  t.is((await panel.kill('SIGTERM')).code, 0);
});
