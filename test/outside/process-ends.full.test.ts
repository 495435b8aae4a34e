// Third-party plugins that end the process, or keep it for themselves: each is named, the exit code says that something
// went wrong, and one that does so again and again is left out. In processes of their own, as in life.
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LogLine } from '../harness/logged-panel.js';
import { PanelProcess } from '../harness/panel-process.js';
import { folderOf, source, thirdParty, writeFiles } from './third-party.js';

const WAYS = `{
  none: () => undefined,
  exit: () => process.exit(),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGTERM'),
  throw: () => { throw new Error('weeds'); },
  leak: () => void Promise.reject(new Error('leaked')),
  loop: () => { for (;;) Math.random(); },
  turns: async () => { for (;;) await undefined; },
  block: () => void execSync('sleep 2'),
  pollute: () => { Object.prototype.weeds = 'everywhere'; },
  odd: () => void Promise.reject(new Proxy({}, { getPrototypeOf() { throw new Error('trap'); } })),
}`;
/** Does one after another, each in a moment of its own, what TEST_ROGUE lists. */
const ROGUE = `import { execSync } from 'node:child_process';\n${source(
  'rogue',
  `taps: () => [tap(kernelReady, () => (process.env.TEST_ROGUE ?? 'none').split(',').forEach((way, i) => setTimeout(() => (${WAYS})[way](), 300 * (i + 1))))]`,
  'kernelReady, tap',
)}`;

async function folderWithRogue(t: ExecutionContext): Promise<string> {
  const folder = await folderOf(t);
  const rogue = await thirdParty(folder, 'rogue', ROGUE);
  await writeFiles(folder, { 'weir.json': { preset: 'minimal', plugins: { [rogue]: true } } });
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

const isMissing = (path: string): Promise<boolean> =>
  readFile(path).then(
    () => false,
    () => true,
  );

/** What a process that this ended said of it. */
function isNamed(t: ExecutionContext, panel: PanelProcess, call: string): void {
  t.deepEqual(panel.end, { code: 70, signal: null });
  const line = panel.said('a plugin ended the process');
  t.like(line, { level: 'error', plugin: 'rogue', call });
  t.regex(firstFrame(line), /rogue\/index\.js:/);
}

test.serial(
  'a plugin that ends the process is named with exit code 70; after the second time soon after a start it is left out until it is updated or enabled',
  async (t) => {
    const folder = await folderWithRogue(t);
    const thrown = await endOf(t, folder, 'throw');
    t.is(thrown.end?.code, 70);
    t.like(thrown.said('a plugin ended the process with an error that it did not catch'), {
      level: 'error',
      plugin: 'rogue',
      error: { message: 'weeds' },
    });
    isNamed(t, await endOf(t, folder, 'exit'), 'process.exit()');
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

    isNamed(t, await endOf(t, folder, 'abort'), 'process.abort()');
    isNamed(t, await endOf(t, folder, 'kill'), 'process.kill() with SIGTERM');
    // Another build of the same version is another plugin.
    await utimes(join(folder, 'rogue', 'index.js'), new Date(), new Date());
    t.like(await stateOf(await open(t, folder, 'none', {}, false)), { state: 'running' });
  },
);

test.serial('what does not end the process is named, and the panel keeps running', async (t) => {
  const folder = await folderWithRogue(t);
  const panel = await open(t, folder, 'leak,odd,block', { loop: 300, endless: 900 }, false);
  await panel.until(() => panel.said('plugin fault') !== undefined, 'the rejection is logged');
  t.like(panel.said('plugin fault'), {
    plugin: 'rogue',
    where: 'an unhandled promise rejection',
    error: { message: 'leaked' },
  });
  await panel.until(
    () => panel.said('unhandled promise rejection') !== undefined,
    'a rejection that cannot even be looked at is logged',
  );
  await panel.until(() => panel.said('the event loop runs again') !== undefined, 'the event loop runs again');
  t.truthy(panel.said('a call that does not return blocks the event loop'));
  // Another thread names it, before or after the line above.
  await panel.until(() => panel.said('a plugin blocks the event loop') !== undefined, 'it is named');
  t.like(panel.said('a plugin blocks the event loop'), { plugin: 'rogue' });
  t.is(panel.end, undefined);
  t.like(await stateOf(panel), { state: 'running' });

  await panel.kill('SIGKILL');
  t.true(await isMissing(join(folder, 'plugin-ends.json')), 'a kill by others counts against no plugin');
});

test.serial('an end counts only soon after a start, and is forgotten after a while', async (t) => {
  const folder = await folderWithRogue(t);
  const ends = join(folder, 'plugin-ends.json');
  await endOf(t, folder, 'exit', { early: 1 });
  t.true(await isMissing(ends));
  const polluted = await endOf(t, folder, 'pollute');
  t.is(polluted.end?.code, 70);
  t.like(polluted.said('a plugin ended the process with an error that it did not catch'), {
    plugin: 'rogue',
    error: { message: 'Cannot add property weeds, object is not extensible' },
  });
  t.regex(await readFile(ends, 'utf8'), /"times": 1/);
  const panel = await open(t, folder, 'none', { early: 1_500 });
  await panel.until(() => isMissing(ends), 'it is forgotten');
});

for (const way of ['loop', 'turns'])
  test.serial(
    `an endless loop (${way}) is named while it lasts, and ends the process in the end`,
    async (t) => {
      const folder = await folderWithRogue(t);
      const panel = await endOf(t, folder, way, { loop: 600, endless: 2_000 });
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
