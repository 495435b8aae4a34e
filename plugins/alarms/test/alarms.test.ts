import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, type Plugin, provide, tap } from '../../../kernel/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { refused } from '../../../test/harness/refused.js';
import { type Channel, Channels } from '../../notifications/contract.js';
import { ServerStatus, type ServerStatusApi } from '../../server-status/contract.js';
import { until } from '../../../test/harness/until.js';
import { type Alarm, alarmChanged, Alarms, ServedCertificates, WatchedStates } from '../contract.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Status = Awaited<ReturnType<ServerStatusApi['status']>>;

async function openWorld(t: ExecutionContext, dataDirectory?: string, clock = new FakeClock()) {
  const machine = { cpu: 10, mem: 10, fails: false, validTo: '' as unknown, problem: '' as unknown };
  const changes: [string, boolean][] = [];
  const sent: string[] = [];
  const status = definePlugin({
    name: 'server-status',
    version: '0.0.0',
    api: 1,
    about: 'A machine with the load that a test gives it.',
    provides: () => [
      provide(ServerStatus, {
        status: async () => {
          if (machine.fails) throw new Error('no /proc');
          return { cpu: machine.cpu, mem: { current: machine.mem, total: 100 } } as Status;
        },
      }),
    ],
  });
  const watcher = definePlugin({
    name: 'watcher',
    version: '0.0.0',
    api: 1,
    about: 'Serves a certificate and receives alarms.',
    contributes: () => [
      contribute(ServedCertificates, { name: 'mail', validTo: () => machine.validTo as string }),
      contribute(WatchedStates, { name: 'mill', problem: () => machine.problem as string }),
      contribute(Channels, {
        name: 'watcher',
        isOn: () => true,
        send: async ({ text }) => void sent.push(text),
      } satisfies Channel),
    ],
    taps: () => [tap(alarmChanged, ({ alarm }) => void changes.push([alarm.name, alarm.isActive]))],
  });
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, status, watcher],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const settle = async (ms: number) => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  await panel.get('/panel/api/setting/update', { body: { alarmDisk: 0 } });
  return {
    panel,
    clock,
    machine,
    changes,
    sent,
    settle,
    read: async (times: number) => {
      for (let i = 0; i < times; i++) await settle(10_000);
    },
    alarm: async (name: string) =>
      (await panel.get<Alarm[]>('/panel/api/x/alarms')).find((one) => one.name === name),
    set: (body: object) => panel.get('/panel/api/setting/update', { body }),
  };
}

test('the processors: a peak is no alarm, a minute is one, and a level at the limit does not flap', async (t) => {
  const { machine, changes, read, alarm, clock, sent } = await openWorld(t);
  machine.cpu = 95;
  await read(5);
  machine.cpu = 50;
  await read(1);
  machine.cpu = 95;
  await read(5);
  t.deepEqual(changes, []);
  await read(1);
  t.deepEqual(changes, [['cpu', true]]);
  t.like(await alarm('cpu'), {
    isActive: true,
    since: clock.now(),
    value: 95,
    limit: 90,
    text: 'the processors have been busy for a minute: 95 %, the limit is 90 %',
  });
  for (let i = 0; i < 12; i++) {
    machine.cpu = i % 2 ? 91 : 86;
    await read(1);
  }
  machine.cpu = 86;
  await read(12);
  t.is(changes.length, 1, 'between 85 and 90 it stays');
  machine.cpu = 85;
  await read(5);
  t.is(changes.length, 1);
  await read(1);
  t.deepEqual(changes, [
    ['cpu', true],
    ['cpu', false],
  ]);
  t.like(await alarm('cpu'), { isActive: false, text: '' });
  t.deepEqual(sent, [
    'The processors have been busy for a minute: 95 %, the limit is 90 %.',
    'The processors are not busy any more.',
  ]);
});

test('at the limit is not above it; a limit of 0 ends an alarm, and raises none', async (t) => {
  const { machine, changes, read, set } = await openWorld(t);
  machine.mem = 90;
  await read(4);
  t.deepEqual(changes, []);
  machine.mem = 100;
  await read(3);
  t.deepEqual(changes, [['memory', true]]);
  await set({ alarmMemory: 0 });
  await read(1);
  t.deepEqual(changes.at(-1), ['memory', false]);
  await read(10);
  t.is(changes.length, 2);
  await set({ alarmMemory: 99 });
  await read(3);
  t.deepEqual(changes.at(-1), ['memory', true]);
});

test('a disk that is fuller than the limit', async (t) => {
  const { changes, read, set, alarm } = await openWorld(t);
  await set({ alarmDisk: 1 });
  await read(3);
  t.deepEqual(changes, [['disk', true]]);
  const value = (await alarm('disk'))?.value ?? 0;
  t.true(value > 1 && value <= 100);
  await set({ alarmDisk: 100 });
  await read(3);
  t.deepEqual(changes.at(-1), ['disk', false]);
});

test('a state of another plugin is an alarm while it has a problem, and one that fails changes nothing', async (t) => {
  const { machine, changes, read, alarm, sent, panel } = await openWorld(t);
  await read(1);
  t.like(await alarm('mill'), { isActive: false, value: 0, limit: 1, text: '' });
  machine.problem = 'the mill stands still';
  await read(2);
  t.deepEqual(changes, [['mill', true]]);
  t.like(await alarm('mill'), { isActive: true, value: 1, text: 'the mill stands still' });
  machine.problem = undefined;
  await read(1);
  t.deepEqual(changes, [['mill', true]]);
  t.true(panel.faults.some((fault) => JSON.stringify(fault).includes('problem returned undefined')));
  machine.problem = '';
  await read(1);
  t.deepEqual(changes.at(-1), ['mill', false]);
  t.deepEqual(sent, ['the mill stands still', 'The alarm mill is over.']);
});

test('a machine that cannot be read changes nothing, and the others go on', async (t) => {
  const { machine, changes, read, panel } = await openWorld(t);
  machine.cpu = Number.NaN;
  machine.mem = Number.NaN;
  await read(10);
  t.deepEqual(changes, []);
  machine.fails = true;
  await read(2);
  t.regex(panel.faults.join('\n'), /alarms, job machine/);
  machine.fails = false;
  machine.cpu = 99;
  await read(6);
  t.deepEqual(changes, [['cpu', true]]);
});

test('a certificate: near its end, expired, renewed, gone', async (t) => {
  const { machine, changes, settle, alarm, clock, panel } = await openWorld(t);
  const end = clock.now() + 14 * DAY + 2 * HOUR;
  machine.validTo = new Date(end).toISOString();
  await settle(HOUR);
  t.deepEqual(changes, []);
  t.like(await alarm('certificate:mail'), { isActive: false, value: 14, limit: 14 });
  await settle(HOUR + 1);
  await settle(HOUR);
  t.deepEqual(changes, [['certificate:mail', true]]);
  t.like(await alarm('certificate:mail'), {
    text: `the certificate of mail expires on ${new Date(end).toISOString().slice(0, 10)}, in 13 days`,
  });
  // A clock that jumps an hour does not end it.
  clock.jump(-3 * HOUR);
  await settle(HOUR);
  clock.jump(3 * HOUR);
  await settle(HOUR);
  t.is(changes.length, 1);
  machine.validTo = new Date(clock.now() - HOUR).toISOString();
  await settle(HOUR);
  t.regex((await alarm('certificate:mail'))?.text ?? '', /^the certificate of mail expired on /);
  machine.validTo = new Date(clock.now() + 90 * DAY).toISOString();
  await settle(HOUR);
  t.deepEqual(changes.at(-1), ['certificate:mail', false]);
  machine.validTo = new Date(clock.now() + DAY).toISOString();
  await settle(HOUR);
  machine.validTo = '';
  await settle(HOUR);
  t.deepEqual(changes.slice(2), [
    ['certificate:mail', true],
    ['certificate:mail', false],
  ]);
  t.is(await alarm('certificate:mail'), undefined);
  machine.validTo = 42;
  await settle(HOUR);
  t.regex(panel.faults.join('\n'), /^watcher, the certificate mail/m);
});

test('another limit for certificates acts within seconds, and the change of the setting waits for nothing', async (t) => {
  const { machine, changes, settle, set, clock, panel } = await openWorld(t);
  machine.validTo = new Date(clock.now() + 20 * DAY).toISOString();
  await settle(HOUR);
  await set({ alarmCertificateDays: 30 });
  await settle(10_000);
  t.deepEqual(changes, [['certificate:mail', true]]);
  await set({ alarmCertificateDays: 10 });
  await settle(10_000);
  t.deepEqual(changes.at(-1), ['certificate:mail', false]);
  await set({ alarmCertificateDays: 30 });
  await settle(10_000);
  await set({ alarmCertificateDays: 0 });
  await settle(10_000);
  t.deepEqual(changes.at(-1), ['certificate:mail', false]);
  t.deepEqual(
    panel.faults.filter((fault) => fault.startsWith('alarms')),
    [],
  );
});

test('a restart reports no active alarm again, and ends one that is over', async (t) => {
  const first = await openWorld(t);
  first.machine.cpu = 99;
  first.machine.mem = 99;
  await first.read(6);
  t.is(first.changes.length, 2);
  const since = (await first.alarm('cpu'))?.since;
  await first.panel.stop();
  const next = await openWorld(t, first.panel.dataDirectory, first.clock);
  t.like(await next.alarm('cpu'), { isActive: true, since });
  next.machine.cpu = 99;
  await next.read(12);
  t.deepEqual(next.changes, [['memory', false]]);
  t.like(await next.alarm('cpu'), { isActive: true, since });
});

test('a clock that jumps raises nothing and ends nothing', async (t) => {
  const { machine, changes, read, clock } = await openWorld(t);
  machine.cpu = 99;
  await read(3);
  clock.jump(HOUR);
  await read(2);
  t.deepEqual(changes, []);
  await read(1);
  t.is(changes.length, 1);
  machine.cpu = 10;
  await read(3);
  clock.jump(-HOUR);
  await read(2);
  t.is(changes.length, 1);
  await read(1);
  t.deepEqual(changes.at(-1), ['cpu', false]);
});

test('on a full disk the alarm is sent, and stored when there is room', async (t) => {
  const first = await openWorld(t);
  const { panel, machine, changes, read } = first;
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON active_alarms BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  machine.cpu = 99;
  await read(6);
  t.deepEqual(changes, [['cpu', true]]);
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER broken']);
  await read(1);
  await panel.stop();
  const next = await openWorld(t, panel.dataDirectory, first.clock);
  t.like(await next.alarm('cpu'), { isActive: true });
});

test('limits outside of their range are refused by name, and without notifications and machine it runs', async (t) => {
  const { panel } = await openWorld(t);
  for (const [name, values] of Object.entries({
    alarmCpu: [-1, 101, 1.5, 'much', null],
    alarmMemory: [101],
    alarmDisk: [-1],
    alarmCertificateDays: [366, -1],
  }))
    for (const value of values)
      await refused(
        t,
        panel,
        '/panel/api/setting/update',
        { body: { [name]: value } },
        { status: 400, code: 'KERNEL_INVALID', field: name },
      );
  const clock = new FakeClock();
  const plugins: Plugin[] = [new FakeEngine().plugin];
  await using bare = await TestPanel.boot({ plugins, clock, without: ['server-status', 'notifications'] });
  clock.tick(10_000);
  await bare.kernel.settled();
  t.deepEqual(
    (await bare.get<Alarm[]>('/panel/api/x/alarms')).map(({ name }) => name),
    ['backup', 'callbacks', 'disk', 'msg-bot'],
  );
  t.deepEqual(
    bare.faults.filter((fault) => fault.startsWith('alarms')),
    [],
  );
});

test('the certificates that panel and subscription server serve are watched', async (t) => {
  const { panel, settle, alarm, set } = await openWorld(t);
  await settle(HOUR);
  t.deepEqual(
    [await alarm('certificate:panel'), await alarm('certificate:subscription')],
    [undefined, undefined],
  );
  t.deepEqual(
    panel.faults.filter((fault) => fault.startsWith('alarms')),
    [],
  );
  // Valid for two days around now.
  const folder = await mkdtemp(join(tmpdir(), 'weir-alarms-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { certFile, keyFile } = await writePair(folder, selfSigned());
  await set({ subCertFile: certFile, subKeyFile: keyFile });
  await panel.stop();
  let list: () => readonly Alarm[] = () => [];
  const probe = definePlugin({
    name: 'probe',
    version: '0.0.0',
    api: 1,
    about: 'Reads the alarms, because the panel speaks HTTPS.',
    uses: { alarms: Alarms },
    start: ({ alarms }) => void (list = () => alarms.list()),
  });
  const next = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, probe],
    anonymous: true,
    dataDirectory: panel.dataDirectory,
    env: { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile },
  });
  t.teardown(() => next[Symbol.asyncDispose]());
  await next.kernel.settled();
  t.deepEqual(
    list().map(({ name, isActive, limit }) => [name, isActive, limit]),
    [
      ['certificate:panel', true, 14],
      ['certificate:subscription', true, 14],
    ],
  );
});

test('one alarm as an event of its own, under the name of older panels, and not beside the wider one', async (t) => {
  const clock = new FakeClock();
  const heard: Record<string, string[]> = {};
  const channel = (name: string, events: readonly string[], language: string): Channel => ({
    name,
    isOn: () => true,
    events: () => events,
    language: () => language,
    send: async ({ event, text }) => void (heard[name] ??= []).push(`${event}: ${text}`),
  });
  const status = definePlugin({
    name: 'server-status',
    version: '0.0.0',
    api: 1,
    about: 'A busy machine.',
    provides: () => [
      provide(ServerStatus, {
        status: async () => ({ cpu: 97, mem: { current: 99, total: 100 } }) as Status,
      }),
    ],
    contributes: () => [
      contribute(Channels, channel('old', ['cpu.high'], 'ru')),
      contribute(Channels, channel('both', ['cpu.high', 'alarmRaised'], 'zh')),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, status], clock });
  await panel.get('/panel/api/setting/update', { body: { alarmDisk: 0 } });
  for (let i = 0; i < 8; i++) {
    clock.tick(10_000);
    await panel.kernel.settled();
  }
  await until(() => heard['old']?.length === 1 && heard['both']?.length === 2, 'both hear');
  t.deepEqual(heard['old'], ['cpuHigh: Процессоры загружены уже минуту: 97 %, предел 90 %.']);
  t.deepEqual(
    heard['both']?.toSorted(),
    [
      'alarmRaised: 机器内存已用 99%，上限为 90%。',
      'alarmRaised: 处理器已持续繁忙一分钟：97%，上限为 90%。',
    ].toSorted(),
  );
});
