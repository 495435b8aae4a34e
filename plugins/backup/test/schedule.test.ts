// When backups are made: by the time of day or an interval, once if they were missed, again after a failure.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { backupWorld, filesIn, NIGHT } from './backup-world.js';
import { dueAt, scheduleProblem, withoutFuture } from '../schedule/timetable.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const state = (schedule: string, since: number, more: object = {}) => ({
  schedule,
  since,
  triedAt: 0,
  doneAt: 0,
  problem: '',
  ...more,
});

test('a schedule is a time, a time and a weekday, or an interval', (t) => {
  for (const text of ['', '00:00', '23:59', '04:30 sunday', '1h', '24h', '744h', '31d'])
    t.is(scheduleProblem(text), undefined, text);
  for (const text of [
    '24:00',
    '04:60',
    '4:30',
    '04:30 Sunday',
    '04:30  sunday',
    '0h',
    '01h',
    '32d',
    '745h',
    '5m',
    '-1h',
    '1.5h',
    ' ',
    '* * * * *',
    '04:30\n',
  ])
    t.not(scheduleProblem(text), undefined, JSON.stringify(text));
});

test('the next time follows the zone, and daylight saving', (t) => {
  t.is(dueAt(state('04:30', NIGHT - HOUR), 'UTC'), NIGHT);
  t.is(dueAt(state('04:30', NIGHT), 'UTC'), NIGHT + DAY);
  t.is(dueAt(state('04:30', NIGHT - HOUR), 'Europe/Berlin'), NIGHT - HOUR + DAY);
  t.is(dueAt(state('04:30 sunday', NIGHT), 'UTC'), NIGHT + 6 * DAY);
  t.is(dueAt(state('6h', NIGHT), 'UTC'), NIGHT + 6 * HOUR);
  t.is(dueAt(state('2d', NIGHT, { doneAt: NIGHT + HOUR }), 'UTC'), NIGHT + HOUR + 2 * DAY);
  // 2:30 does not exist in Berlin on 2026-03-29.
  const change = Date.UTC(2026, 2, 29, 1);
  t.is(dueAt(state('02:30', change - HOUR), 'Europe/Berlin'), change);
});

test('after a failure it is tried again an hour later, and not before', (t) => {
  const failed = { triedAt: NIGHT, problem: 'no room' };
  t.is(dueAt(state('04:30', NIGHT - HOUR, failed), 'UTC'), NIGHT + HOUR);
});

test('times of a clock that was set back do not delay backups', (t) => {
  const future = state('6h', NIGHT + 365 * DAY, { doneAt: NIGHT + 365 * DAY, triedAt: NIGHT + 365 * DAY });
  const sound = withoutFuture(future, NIGHT);
  t.is(dueAt(sound, 'UTC'), NIGHT + 6 * HOUR);
  t.is(withoutFuture(sound, NIGHT + HOUR), sound);
});

test('a backup is made at its time, once', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  t.deepEqual(await world.names(), []);
  t.is(world.scheduler.status().nextAt, NIGHT);
  world.clock.tick(HOUR);
  await world.scheduler.look();
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  t.is(world.scheduler.status().nextAt, NIGHT + DAY);
  world.clock.tick(DAY - 1);
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  world.clock.tick(1);
  await world.scheduler.look();
  t.is((await world.names()).length, 2);
  t.deepEqual(
    world.changes.map(({ kind, place }) => `${kind} ${place}`),
    ['added local', 'added local'],
  );
});

test('what was missed while the panel was off is made once at the next start', async (t) => {
  const first = await backupWorld(t);
  await first.scheduler.look();
  first.clock.tick(HOUR);
  await first.scheduler.look();
  first.stop();
  first.clock.tick(5 * DAY);
  const second = await backupWorld(t, { folder: first.folder, clock: first.clock });
  await second.scheduler.look();
  await second.scheduler.look();
  t.is((await second.names()).length, 2);
  t.is(second.scheduler.status().nextAt, NIGHT + 6 * DAY);
});

test('a new schedule begins when it is set, and a blank one ends it', async (t) => {
  const world = await backupWorld(t, { settings: { backupSchedule: '' } });
  await world.scheduler.look();
  world.clock.tick(30 * DAY);
  await world.scheduler.look();
  t.deepEqual(await filesIn(world), []);
  world.settings['backupSchedule'] = '1d';
  // The next time is said at once, and not a minute later.
  t.is(world.scheduler.status().nextAt, world.clock.now() + DAY);
  await world.scheduler.look();
  t.is(world.scheduler.status().nextAt, world.clock.now() + DAY);
  t.deepEqual(await world.names(), []);
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  world.settings['backupSchedule'] = '';
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  t.is(world.scheduler.status().nextAt, 0);
});

test('a failed backup leaves nothing, is a problem, and is tried again in an hour', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.snapshotError = new Error('ENOSPC: no space left on device');
  world.clock.tick(HOUR);
  await world.scheduler.look();
  await world.scheduler.look();
  t.regex(world.scheduler.problem, /the backup cannot be made: ENOSPC/);
  t.is(world.logged.filter((line) => line.startsWith('a scheduled backup failed')).length, 1);
  t.deepEqual(await filesIn(world), []);
  world.snapshotError = undefined;
  world.clock.tick(HOUR - 1);
  await world.scheduler.look();
  t.deepEqual(await world.names(), []);
  world.clock.tick(1);
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  t.is(world.scheduler.problem, '');
});

test('a backup that cannot be restored is listed as failed, a problem, and not copied', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.problem = 'clients.email: two rows';
  world.clock.tick(HOUR);
  await world.scheduler.look();
  const [failed] = await world.archive.list();
  t.like(failed?.verification, { state: 'failed', problem: 'clients.email: two rows' });
  t.regex(world.scheduler.problem, /^the backup weir_\S+ cannot be restored: clients.email: two rows$/);
  t.is(world.scheduler.status().doneAt, 0);
  // It stays until a later one is verified.
  world.problem = '';
  world.clock.tick(HOUR);
  await world.scheduler.look();
  t.is(world.scheduler.problem, '');
  const names = await world.names();
  t.is(names.length, 1);
  t.not(names[0], failed?.manifest.name);
});

test('a scratch database that has no room fails the backup, and leaves nothing', async (t) => {
  const world = await backupWorld(t);
  world.problem = 'SQLITE_FULL: database or disk is full';
  await t.throwsAsync(world.scheduler.run('admin', { kind: 'command', name: 'x' }), {
    message: /it cannot be verified: SQLITE_FULL/,
  });
  t.deepEqual(await filesIn(world), []);
});

test('a backup that has other counts after a restore is failed', async (t) => {
  const world = await backupWorld(t);
  world.restoredClients = 0;
  const made = await world.scheduler.run('admin', { kind: 'command', name: 'x' });
  t.like(made.verification, {
    state: 'failed',
    problem: 'it has 0 clients after a restore, and its record says 1',
  });
});

test('never two at once, and none is lost because of it', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.clock.tick(HOUR);
  let release = (): void => undefined;
  world.pause = () => new Promise((resolve) => (release = resolve));
  const running = world.scheduler.look();
  while (world.archive.work === '') await new Promise((resolve) => setImmediate(resolve));
  await t.throwsAsync(world.scheduler.run('admin', { kind: 'command', name: 'x' }), {
    message: /another backup is being made/,
  });
  await world.scheduler.look();
  world.pause = undefined;
  while (world.archive.work !== '') {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await running;
  t.is((await world.names()).length, 1);
});

test('a panel that stops in the middle leaves nothing, and the next one makes it', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.clock.tick(HOUR);
  world.pause = async () => world.stop();
  await world.scheduler.look();
  t.deepEqual(await filesIn(world), []);
  t.is(world.scheduler.problem, '', 'a stop is not a failure');
  const next = await backupWorld(t, { folder: world.folder, clock: world.clock });
  await next.scheduler.look();
  t.is((await next.names()).length, 1);
});

test('a panel that stops while a backup is verified waits for nothing', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.clock.tick(HOUR);
  world.rehearsal = new Promise(() => undefined);
  const looking = world.scheduler.look();
  while (!(await filesIn(world)).some((name) => name.endsWith('.part')))
    await new Promise((resolve) => setImmediate(resolve));
  world.stop();
  await looking;
  t.deepEqual(await filesIn(world), []);
});

test('a state that cannot be read begins again', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  const path = join(world.folder, 'backups', '.schedule.json');
  t.like(JSON.parse(await readFile(path, 'utf8')), { schedule: '04:30', since: NIGHT - HOUR });
  for (const text of ['', '{', 'null', '{"since":"x"}', '[]']) {
    await writeFile(path, text);
    const again = await backupWorld(t, { folder: world.folder, clock: world.clock });
    await again.scheduler.look();
    t.is(again.scheduler.status().nextAt, NIGHT);
  }
});
