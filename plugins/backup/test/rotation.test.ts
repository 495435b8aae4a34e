// Which backups are deleted, and which never are.
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type Rotated, superfluous, superfluousFailed } from '../schedule/rotation.js';
import { backupWorld, filesIn, NIGHT } from './backup-world.js';

const DAY = 86_400_000;
const NONE = { last: 1, days: 0, weeks: 0, months: 0 };
const daily = (count: number, bad: readonly number[] = []): Rotated[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `${n}`,
    createdAt: NIGHT - n * DAY,
    isGood: !bad.includes(n),
  }));
const kept = (
  backups: readonly Rotated[],
  rule: Parameters<typeof superfluous>[1],
  zone = 'UTC',
): number[] => {
  const old = new Set(superfluous(backups, rule, zone));
  return backups.filter(({ name }) => !old.has(name)).map(({ name }) => Number(name));
};

test('keeps the last, and the newest of each day, week and month', (t) => {
  // Day 0 is Monday, 2026-11-23.
  const all = daily(100);
  t.deepEqual(kept(all, NONE), [0]);
  t.deepEqual(kept(all, { ...NONE, last: 3 }), [0, 1, 2]);
  t.deepEqual(kept(all, { ...NONE, days: 4 }), [0, 1, 2, 3]);
  t.deepEqual(kept(all, { ...NONE, weeks: 3 }), [0, 1, 8]);
  t.deepEqual(kept(all, { ...NONE, months: 3 }), [0, 23, 54]);
  t.deepEqual(kept(all, { last: 2, days: 3, weeks: 2, months: 2 }), [0, 1, 2, 23]);
});

test('of several in a day the newest stays, in the zone of the panel', (t) => {
  const hours: Rotated[] = Array.from({ length: 48 }, (_, n) => ({
    name: `${n}`,
    createdAt: NIGHT - n * 3_600_000,
    isGood: true,
  }));
  t.deepEqual(kept(hours, { ...NONE, days: 2 }, 'UTC'), [0, 5]);
  t.deepEqual(kept(hours, { ...NONE, days: 2 }, 'America/New_York'), [0, 24]);
});

test('one that is not good neither counts nor stands for a period', (t) => {
  t.deepEqual(kept(daily(5, [0, 1]), NONE), [0, 1, 2], 'younger failed ones stay, older good ones go');
  t.deepEqual(kept(daily(5, [1, 3]), { ...NONE, last: 2 }), [0, 2]);
  t.deepEqual(kept(daily(3, [0, 1, 2]), NONE), [0, 1, 2], 'nothing is deleted while none is good');
  t.deepEqual(kept([], NONE), []);
});

test('of backups that cannot be restored, one after another, the newest three stay', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  const [good = ''] = await world.names();
  world.problem = 'the restored database has mistakes';
  world.clock.tick(DAY);
  for (let hour = 0; hour < 6; hour++) {
    await world.scheduler.look();
    world.clock.tick(3_600_000);
  }
  const names = await world.names();
  t.is(names.length, 4);
  t.is(names[3], good, 'and so does the one that was verified');
  t.is(world.changes.filter(({ kind }) => kind === 'deleted').length, 3);
  // Those before the last good one are none of its business.
  const one = (n: number, isGood: boolean) => ({
    name: `${n}`,
    createdAt: NIGHT - n,
    isGood,
    hasFailed: !isGood,
  });
  t.deepEqual(superfluousFailed([0, 1, 2, 3, 4, 5].map((n) => one(n, n === 2))), []);
  // A file that changed since is not one of them.
  const world2 = await backupWorld(t);
  for (let n = 0; n < 5; n++) {
    await world2.scheduler.run('admin', { kind: 'session', name: 'admin' } as never);
    world2.settings['backupKeepLast'] = 10;
    world2.clock.tick(3_600_000);
  }
  for (const name of await world2.names()) {
    await writeFile(join(world2.folder, 'backups', name), 'copy x');
    await world2.archive.verify(name, 'local', { identities: [], passphrase: '' }, {} as never);
  }
  world2.problem = 'the restored database has mistakes';
  await world2.scheduler.run('admin', { kind: 'session', name: 'admin' } as never);
  t.is((await world2.names()).length, 6);
});

test('a gap or a jump of the clock deletes nothing more', (t) => {
  const old = daily(3).map((one) => ({ ...one, createdAt: one.createdAt - 3_000 * DAY }));
  const now: Rotated = { name: '9', createdAt: NIGHT, isGood: true };
  t.deepEqual(kept([now, ...old], { ...NONE, last: 4 }), [9, 0, 1, 2]);
  t.deepEqual(kept([now, ...old], { ...NONE, days: 4 }), [9, 0, 1, 2]);
});

test('the newest good one stays even if nothing is to be kept', (t) => {
  t.deepEqual(kept(daily(3), { last: 0, days: 0, weeks: 0, months: 0 }), [0]);
});

test('files that are not ours are never deleted', async (t) => {
  const world = await backupWorld(t, { settings: { backupKeepLast: 1 } });
  await world.scheduler.look();
  const folder = join(world.folder, 'backups');
  const theirs = [
    'before-restore-2026.sqlite',
    'weir_2020-01-01_000000.db',
    'weir_2020-01-01_000000.db.age',
    'weir_2020-01-01_000000.db.bak',
    'notes.txt',
    '.weir_keep',
  ];
  for (const name of theirs) {
    await writeFile(join(folder, name), 'mine');
    await utimes(join(folder, name), 0, 0);
  }
  await mkdir(join(folder, 'weir_2020-01-02_000000.db'));
  const names: string[] = [];
  for (let n = 0; n < 4; n++) {
    world.clock.tick(DAY);
    await world.scheduler.look();
    names.push(...(await world.names()));
  }
  t.is(names.length, 4, 'one at a time');
  t.is(new Set(names).size, 4);
  // One of another panel, which somebody has put here.
  const [last = ''] = await world.names();
  const record = JSON.parse(await readFile(join(folder, `${last}.json`), 'utf8')) as {
    manifest: { name: string; guid: string; createdAt: number };
  };
  const other = 'weir_2021-01-01_000000.db';
  record.manifest = { ...record.manifest, name: other, guid: 'another', createdAt: 1 };
  await writeFile(join(folder, `${other}.json`), JSON.stringify(record));
  await writeFile(join(folder, other), await readFile(join(folder, last)));
  world.clock.tick(DAY);
  await world.scheduler.look();
  const again = await backupWorld(t, { folder: world.folder, clock: world.clock });
  const files = await filesIn(again);
  for (const name of [...theirs, other, `${other}.json`, 'weir_2020-01-02_000000.db'])
    t.true(files.includes(name), name);
  t.is(files.length, theirs.length + 3 + 2);
});

test('a backup whose file was cut does not count: an older good one stays', async (t) => {
  const world = await backupWorld(t, { settings: { backupKeepLast: 2 } });
  await world.scheduler.look();
  const made: string[] = [];
  for (let n = 0; n < 3; n++) {
    if (n === 2) await writeFile(join(world.folder, 'backups', made[1] ?? ''), '');
    world.clock.tick(DAY);
    await world.scheduler.look();
    made.push((await world.names())[0] ?? '');
  }
  t.deepEqual(await world.names(), [made[2], made[0]]);
});

test('what a kill leaves is removed at the start: drafts, and records without a file', async (t) => {
  const world = await backupWorld(t);
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  const folder = join(world.folder, 'backups');
  const [name = ''] = await world.names();
  const record = await readFile(join(folder, `${name}.json`), 'utf8');
  await writeFile(join(folder, '.weir_1795408200000.123-0.part'), 'half');
  await writeFile(join(folder, `${name}.json.0123456789ab`), record);
  await writeFile(join(folder, 'weir_2026-11-22_000000.db.json'), record);
  await mkdir(join(folder, '.weir-copy-abcDEF'));
  const again = await backupWorld(t, { folder: world.folder, clock: world.clock });
  t.deepEqual(await filesIn(again), [name, `${name}.json`]);
  // Killed between the two deletions.
  await rm(join(folder, name));
  const last = await backupWorld(t, { folder: world.folder, clock: world.clock });
  t.deepEqual(await filesIn(last), []);
});

test('a full disk does not prevent that backups are deleted', async (t) => {
  const world = await backupWorld(t, { settings: { backupKeepLast: 1 } });
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  world.writeError = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is((await world.names()).length, 1);
  t.true(world.logged.some((line) => line.startsWith('a change of a backup could not be recorded')));
});

test('a name that leads elsewhere is neither found nor opened', async (t) => {
  const world = await backupWorld(t);
  await writeFile(join(world.folder, 'x.json'), '{}');
  for (const name of [
    '../x',
    '/etc/passwd',
    '',
    '.',
    'weir_2026-11-23_043000.db/../../x',
    'weir_2026-11-23_043000.db\n',
  ]) {
    t.is(await world.localFolder.find(name), undefined, name);
    t.throws(() => world.localFolder.fileOf(name), { message: /is not the name of a backup/ }, name);
    await t.throwsAsync(world.archive.open(name), { message: /there is no backup of this name/ }, name);
  }
});
