// A panel is killed, its processes live on, and the next panel knows them again or ends them.
import test, { type ExecutionContext } from 'ava';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessOptions } from '../contract.js';
import { logSays } from '../probes.js';
import { folderOf, isThere, pidOf, processesBelow, script, sleeper, until, World } from './world.js';

const doomed = fileURLToPath(new URL('./doomed-panel.js', import.meta.url));

/** Resolves with the data folder and the pid when the panel that started the process has been killed. */
async function killedPanel(
  t: ExecutionContext,
  options: Partial<ProcessOptions> = {},
): Promise<{ readonly data: string; readonly pid: number }> {
  const data = await folderOf(t);
  const panel = spawn(process.execPath, [doomed, data, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => panel.kill('SIGKILL'));
  const [line] = (await once(createInterface(panel.stdout), 'line')) as [string];
  panel.kill('SIGKILL');
  await once(panel, 'exit');
  t.true(await isThere(Number(line)), 'the process lives on');
  return { data, pid: Number(line) };
}

test('a process survives a killed panel, is adopted, watched and stopped', async (t) => {
  const { data, pid } = await killedPanel(t);
  const world = new World(data, false);
  const one = world.manage({ backOff: { first: 10 } });
  t.like(await one.start(), { name: 'waiting', until: 0 }, 'nothing is done before the panel is open');
  world.table.open();
  await until(() => one.state.name === 'running', 'it is adopted');
  t.like(one.state, { pid, adopted: true });
  process.kill(pid, 'SIGKILL');
  await until(() => one.state.name === 'running' && one.state.pid !== pid, 'its end is noticed');
  t.like(one.state, { adopted: false });
  await one.stop();
  t.deepEqual(await processesBelow(data), []);
});

test('one that was started with something else, is not wanted back or does not answer is stopped first', async (t) => {
  const different: Partial<ProcessOptions>[] = [
    { args: [...sleeper.args, 'more'] },
    { env: { A: '1' } },
    { startedWith: 'another config' },
    { adopt: false },
  ];
  for (const options of different) {
    const { data, pid } = await killedPanel(t);
    const one = new World(data).manage(options);
    const state = await one.start();
    t.not(pidOf(state), pid, JSON.stringify(options));
    t.like(state, { adopted: false });
    t.deepEqual(await processesBelow(data), [pidOf(state)]);
    await one.stop();
  }
  const lost = await killedPanel(t);
  await rm(join(lost.data, 'processes', 'acme', 'one', 'process.json'));
  const found = new World(lost.data).manage();
  const alone = pidOf(await found.start());
  t.deepEqual(await processesBelow(lost.data), [alone], 'an unrecorded one as well');
  await found.stop();
  const { data, pid } = await killedPanel(t);
  const one = new World(data).manage({ ready: ({ pid: asked }) => asked !== pid, readyWithin: 300 });
  t.not(pidOf(await one.start()), pid);
  await one.stop();
});

test('a process that was ready stays so, though its log has been cut; one that was not is waited for', async (t) => {
  const first = await World.open(t);
  const says = script(
    "process.on('SIGUSR2', () => console.log('up')); console.log('begins'); setInterval(() => {}, 1000)",
  );
  const one = { ...says, ready: logSays(/up/) };
  void first.manage(one).start();
  await until(async () => (await first.output()).includes('begins'), 'it has begun');
  const [pid = 0] = await processesBelow(first.data);
  process.kill(pid, 'SIGUSR2');
  await until(async () => (await first.output()).includes('up'), 'it has said so');
  await until(() => first.events.some(({ to }) => to === 'running'), 'it is ready');
  first.table.expectEnd(true);
  await first.table.close();
  await truncate(join(first.data, 'processes', 'acme', 'one', 'output.log'), 0);

  const second = new World(first.data);
  t.like(await second.manage(one).start(), { pid, adopted: true });
  await second.table.close();

  // As if its panel had been killed before it was ready.
  const third = new World(first.data);
  const next = pidOf(await third.manage(says).start());
  await until(async () => (await third.output()).includes('begins'), 'it hears signals');
  third.table.expectEnd(true);
  await third.table.close();
  const record = join(first.data, 'processes', 'acme', 'one', 'process.json');
  const { ready, ...noted } = JSON.parse(await readFile(record, 'utf8')) as { ready: boolean };
  t.true(ready);
  await writeFile(record, JSON.stringify(noted));
  const fourth = new World(first.data);
  const taken = fourth.manage(one).start();
  process.kill(next, 'SIGUSR2');
  t.like(await taken, { pid: next, adopted: true });
  await fourth.table.close();
});

test('a change of the panel’s own environment is no reason to stop one', async (t) => {
  const { data, pid } = await killedPanel(t);
  const before = process.env['LANG'];
  process.env['LANG'] = 'xx_XX';
  t.teardown(() => (before === undefined ? delete process.env['LANG'] : (process.env['LANG'] = before)));
  const one = new World(data).manage();
  t.is(pidOf(await one.start()), pid);
  await one.stop();
});

test('a panel that comes back at once takes them over; one that ends stops them', async (t) => {
  const first = await World.open(t);
  const one = first.manage();
  const pid = pidOf(await one.start());
  const other = first.manage({ name: 'two', adopt: false });
  const gone = pidOf(await other.start());
  first.table.expectEnd(true);
  await first.table.close();
  t.deepEqual([await isThere(pid), await isThere(gone)], [true, false]);
  t.is((await one.start()).name, 'running', 'a handle of a panel that ended starts nothing');
  t.deepEqual(await processesBelow(first.data), [pid]);

  const second = new World(first.data);
  t.like(await second.manage().start(), { pid, adopted: true });
  await second.table.close();
  t.deepEqual(await processesBelow(first.data), []);
});

test('what no plugin that runs wants is ended, what is wanted stays', async (t) => {
  const first = await World.open(t);
  for (const [name, plugin] of [
    ['kept', 'acme'],
    ['dropped', 'acme'],
    ['one', 'gone'],
    ['one', 'failed'],
  ] as const)
    await first.manage({ name }, plugin).start();
  await mkdir(join(first.data, 'processes', 'odd', 'empty'), { recursive: true });
  await writeFile(join(first.data, 'processes', 'file'), '');
  first.table.expectEnd(true);
  await first.table.close();
  t.is((await processesBelow(first.data)).length, 4);

  const second = new World(first.data);
  const kept = second.manage({ name: 'kept' });
  await kept.start();
  const failed = second.manage({}, 'failed');
  await failed.start();
  const [, dropped] = await Promise.all([
    second.table.endUnwanted(['acme']),
    // A plugin that comes with its process at this very moment gets a new one.
    second.manage({ name: 'dropped' }).start(),
  ]);
  t.is(dropped.name, 'running');
  t.is(failed.state.name, 'stopped');
  t.deepEqual((await processesBelow(first.data)).sort(), [pidOf(kept.state), pidOf(dropped)].sort());
  await second.table.close();
  t.deepEqual(await processesBelow(first.data), []);
});

test('a start while the process of a previous panel is being ended waits for its end', async (t) => {
  const stubborn = script(
    "process.on('SIGTERM', () => {}); console.log('begins'); setInterval(() => {}, 1000)",
  );
  const first = await World.open(t);
  const pid = pidOf(await first.manage(stubborn).start());
  await until(async () => (await first.output()).includes('begins'), 'it ignores SIGTERM');
  first.table.expectEnd(true);
  await first.table.close();
  const second = new World(first.data);
  const ending = second.table.endUnwanted(['acme']);
  await until(
    () => second.lines.some(({ message }) => message.includes('no plugin wants')),
    'it is being ended',
  );
  const state = await second.manage(stubborn).start();
  await ending;
  t.not(pidOf(state), pid);
  t.deepEqual(await processesBelow(first.data), [pidOf(state)]);
  await second.table.close();
});
