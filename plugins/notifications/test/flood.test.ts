import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import test from 'ava';
import { contribute, definePlugin, event, type Hooks } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { notified, NotifiedEvents, type Occurrence } from '../contract.js';
import { FloodGuard, type Summary } from '../flood/flood-guard.js';
import { QuietKeys } from '../flood/quiet-keys.js';
import { channel, deliveriesOf, heardBy } from './channels.js';

const happened = event<{ readonly numbers: readonly number[] }>('mill/happened');
const burned = event<{ readonly numbers: readonly number[] }>('mill/burned');

/** A plugin of a third party that makes events. */
function mill() {
  let hooks: Pick<Hooks, 'emit'> | undefined;
  const kind = (name: string, hook: typeof happened, severity: 'info' | 'critical') =>
    notified({
      name: `mill.${name}`,
      severity,
      isOnByDefault: true,
      hook,
      describe: ({ numbers }) => numbers.map((number) => ({ args: { number }, data: { number } })),
      titles: { en: `Mill ${name}`, ru: `Мельница ${name}` },
      texts: { en: 'number {number, number}', ru: 'номер {number, number}' },
    });
  return {
    plugin: definePlugin({
      name: 'mill',
      version: '1.0.0',
      api: 1,
      about: 'Makes events.',
      hooks: [happened, burned],
      contributes: () => [
        contribute(NotifiedEvents, kind('happened', happened, 'info')),
        contribute(NotifiedEvents, kind('burned', burned, 'critical')),
      ],
      start: (scope) => void (hooks = scope.hooks),
    }),
    happen: (...numbers: number[]) => hooks?.emit(happened, { numbers }),
    burn: (...numbers: number[]) => hooks?.emit(burned, { numbers }),
  };
}

test.serial(
  '10,000 events in a second are a few notifications, every critical one is in them, and nothing stalls',
  async (t) => {
    const { plugin, happen, burn } = mill();
    const clock = new FakeClock();
    const english = heardBy('english');
    const russian = heardBy('russian', { language: () => 'ru' });
    const hanging = channel('hanging', { send: () => new Promise<never>(() => undefined) });
    await using panel = await TestPanel.boot({
      without: ['alarms'],
      plugins: [new FakeEngine().plugin],
      outside: [plugin, english.plugin, russian.plugin, hanging],
      clock,
    });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const cpu = process.cpuUsage();
    delay.enable();
    for (let step = 0; step < 100; step++) {
      for (let i = 0; i < 99; i++) happen(step * 100 + i);
      if (step < 60) burn(step);
      else happen(step * 100 + 99);
      if (step % 10 === 9) clock.tick(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await panel.kernel.settled();
    clock.tick(6_000);
    const all = () => english.heard.filter(({ event: name }) => name.startsWith('mill.'));
    await until(() => all().filter(({ isSummary }) => isSummary).length === 2, 'both summaries are sent');
    delay.disable();
    const { user, system } = process.cpuUsage(cpu);
    const [longest, busy] = [delay.max / 1e6, (user + system) / 1000];
    t.log(`longest stall ${longest.toFixed(1)} ms, processor ${busy.toFixed(0)} ms`);
    // Where the machine is busy with other things, a stall says nothing.
    t.true(longest < 50 || busy < 500, `${longest} ms, ${busy} ms of the processor`);
    t.is(all().length, 8, 'three of each pass, and a summary of each');
    const critical = all().find(({ isSummary, severity }) => isSummary && severity === 'critical');
    t.like(critical, { event: 'mill.burned', data: { count: 57 } });
    const passed = all().filter(({ event: name, isSummary }) => name === 'mill.burned' && !isSummary);
    const numbers = [...passed.map(({ data }) => data), ...((critical?.data['samples'] ?? []) as object[])];
    t.deepEqual(
      numbers.map((data) => (data as { number: number }).number),
      Array.from({ length: 60 }, (_, i) => i),
      'each critical one is there',
    );
    const info = all().find(({ isSummary, severity }) => isSummary && severity === 'info');
    t.is(info?.data['count'], 9_940 - 3);
    t.regex(
      info?.text ?? '',
      /^Mill happened: 9,937 more times from 12:00:00\sPM to 12:00:0\d\sPM\. Most recently: number 9,999$/,
    );
    await until(
      () => russian.heard.filter(({ isSummary }) => isSummary).length === 2,
      'the others hear as well',
    );
    const inRussian = russian.heard.find(({ isSummary, severity }) => isSummary && severity === 'info');
    t.regex(
      inRussian?.text ?? '',
      /^Мельница happened: ещё 9\s937 раз с 12:00:00 по 12:00:0\d\. Последнее: номер 9\s999$/,
    );
    await until(async () => (await deliveriesOf(panel, '?channel=english')).length === 8, 'the log is short');
    t.deepEqual(panel.faults, []);
  },
);

test('more at once than the queue of events takes is reported as incomplete', async (t) => {
  const { plugin, happen, burn } = mill();
  const clock = new FakeClock();
  const { plugin: listening, heard } = heardBy();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [plugin, listening],
    clock,
  });
  for (let i = 0; i < 5_000; i++) happen(i);
  burn(1);
  await panel.kernel.settled();
  await until(
    () => heard.some(({ event: name }) => name === 'mill.burned'),
    'it is told that some are missing',
  );
  const missed = heard.find(({ event: name }) => name === 'mill.burned');
  t.like(missed, { severity: 'critical', data: { isIncomplete: true } });
  t.regex(missed?.text ?? '', /^Mill burned: so much happened at once/);
});

test('one payload of many is as a flood of single ones', async (t) => {
  const { plugin, burn } = mill();
  const clock = new FakeClock();
  const { plugin: listening, heard } = heardBy();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [plugin, listening],
    clock,
  });
  burn(...Array.from({ length: 10_000 }, (_, i) => i));
  await panel.kernel.settled();
  clock.tick(6_000);
  await until(() => heard.length === 4, 'three and a summary');
  t.is(heard[3]?.data['count'], 9_997);
});

test('what a flood holds back is stored when the panel stops, and sent after the next start', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const clock = new FakeClock();
  const boot = (made: ReturnType<typeof mill>, heard: ReturnType<typeof heardBy>) =>
    TestPanel.boot({
      without: ['alarms'],
      plugins: [new FakeEngine().plugin],
      outside: [made.plugin, heard.plugin],
      clock,
      dataDirectory,
    });
  const made = mill();
  const before = heardBy();
  const first = await boot(made, before);
  for (let i = 0; i < 20; i++) made.burn(i);
  await first.kernel.settled();
  await until(() => before.heard.length === 3, 'three pass');
  await first.stop();
  t.is(before.heard.length, 3);
  const after = heardBy();
  await using _second = await boot(mill(), after);
  clock.tick(1_000);
  await until(() => after.heard.length === 1, 'the summary is sent');
  t.like(after.heard[0], { event: 'mill.burned', isSummary: true, data: { count: 17 } });
});

test('windows grow while a flood lasts, and end with it', (t) => {
  const clock = new FakeClock();
  const passed: number[] = [];
  const summaries: (Summary & { readonly at: number })[] = [];
  const guard = new FloodGuard<{ readonly name: string }>(
    clock,
    (_, __, { data }) => void passed.push(Number(data['number'])),
    (_, __, summary) => void summaries.push({ ...summary, at: clock.now() }),
  );
  const took = (number: number): Occurrence => ({ args: {}, data: { number } });
  const mill = { name: 'mill' };
  const start = clock.now();
  for (let second = 0; second < 120; second++) {
    for (let i = 0; i < 10; i++) guard.take(mill, 'info', took(second * 10 + i));
    clock.tick(1_000);
    guard.tick();
  }
  t.deepEqual(passed, [0, 1, 2]);
  t.deepEqual(
    summaries.map(({ at }) => (at - start) / 1_000),
    [5, 15, 35, 75],
  );
  guard.tick(true);
  t.is(
    summaries.reduce((sum, { count }) => sum + count, passed.length),
    1_200,
    'each is counted once',
  );
  t.true(summaries.every(({ samples }) => samples.length <= 20));
  clock.tick(300_000);
  guard.tick();
  guard.take(mill, 'info', took(7));
  t.is(passed.length, 4, 'after the flood the next one passes');
  clock.jump(-10 * 86_400_000);
  guard.take(mill, 'info', took(8));
  guard.take(mill, 'info', took(9));
  guard.take(mill, 'info', took(10));
  guard.tick();
  t.is(passed.at(-1), 10, 'a clock that is set back holds nothing');
});

test('of the same key, one passes in a quarter of an hour, and the memory for it is bounded', (t) => {
  const keys = new QuietKeys();
  t.true(keys.passes('a', 0));
  t.false(keys.passes('a', 899_999));
  t.true(keys.passes('a', 900_000));
  t.true(keys.passes('a', 5), 'a clock that was set back');
  for (let i = 0; i < 1_001; i++) keys.passes(`k${i}`, 10);
  t.true(keys.passes('a', 11), 'the oldest is forgotten');
});
