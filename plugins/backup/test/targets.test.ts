// When backups are copied to targets, and what happens when a target fails.
import { readFile, rename } from 'node:fs/promises';
import test from 'ava';
import type { BackupTarget } from '../contract.js';
import { backupWorld } from './backup-world.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

class MemoryTarget implements BackupTarget {
  readonly name = 'memory';
  readonly files = new Map<string, Buffer>();
  puts = 0;
  problem = '';
  where = 'here';
  isSetUp = true;
  isOn(): boolean {
    return this.isSetUp;
  }
  place(): string {
    return this.where;
  }
  async put(name: string, { path }: { readonly path: string }): Promise<void> {
    this.puts++;
    if (this.problem !== '') throw new Error(this.problem);
    this.files.set(name, await readFile(path));
  }
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const file = this.files.get(name);
    if (!file) throw new Error('nothing there');
    yield file;
  }
  async list(folder: string): Promise<{ name: string; bytes: number }[]> {
    return [...this.files]
      .filter(([name]) => name.startsWith(`${folder}/`))
      .map(([name, { length }]) => ({ name: name.slice(folder.length + 1), bytes: length }));
  }
  async remove(name: string): Promise<void> {
    this.files.delete(name);
  }
}

test('each backup goes to the target, and old ones are deleted there too', async (t) => {
  const target = new MemoryTarget();
  const world = await backupWorld(t, { targets: [target], settings: { backupKeepLast: 2 } });
  await world.scheduler.look();
  for (let n = 0; n < 4; n++) {
    world.clock.tick(DAY);
    await world.scheduler.look();
  }
  t.deepEqual(await world.names('memory'), await world.names());
  t.is(target.files.size, 4);
  const [newest] = await world.archive.list();
  t.like(newest?.copies['memory'], { problem: '', place: 'here' });
});

test('a target that fails is a problem, is asked again in an hour, and gets the newest only', async (t) => {
  const target = new MemoryTarget();
  const world = await backupWorld(t, { targets: [target] });
  await world.scheduler.look();
  target.problem = 'no room';
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is(world.scheduler.problem, 'the target memory has no complete copy: no room');
  t.is(target.puts, 1);
  for (let n = 0; n < 59; n++) {
    world.clock.tick(60_000);
    await world.scheduler.look();
  }
  t.is(target.puts, 1);
  t.is((await world.names()).length, 1, 'the local one stays');
  world.clock.tick(60_000);
  await world.scheduler.look();
  t.is(target.puts, 2);
  const again = await backupWorld(t, { targets: [target], folder: world.folder, clock: world.clock });
  t.is(again.scheduler.problem, 'the target memory has no complete copy: no room', 'also after a restart');
  target.problem = '';
  world.clock.tick(HOUR);
  await world.scheduler.look();
  t.is(world.scheduler.problem, '');
  t.is((await world.names('memory')).length, 1);
});

test('a backup that cannot be restored goes nowhere, and deletes nothing', async (t) => {
  const target = new MemoryTarget();
  const world = await backupWorld(t, { targets: [target], settings: { backupKeepLast: 1 } });
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  const before = [...target.files.keys()];
  const local = await world.names();
  world.problem = 'broken';
  for (let n = 0; n < 3; n++) {
    world.clock.tick(DAY);
    await world.scheduler.look();
  }
  t.deepEqual([...target.files.keys()], before);
  const names = await world.names();
  t.is(names.length, 4);
  t.true(names.includes(local[0] ?? ''));
});

test('another place gets the newest backup at the next look', async (t) => {
  const target = new MemoryTarget();
  target.isSetUp = false;
  const world = await backupWorld(t, { targets: [target] });
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is(target.puts, 0);
  t.throws(() => world.archive.targetOf('memory'), { message: /not set up/ });
  target.isSetUp = true;
  await world.scheduler.look();
  t.is(target.files.size, 2);
  await world.scheduler.look();
  t.is(target.puts, 2);
  target.files.clear();
  target.where = 'elsewhere';
  await world.scheduler.look();
  t.is(target.files.size, 2);
});

test('a target with faults of its own does not stop the others', async (t) => {
  const [broken, good] = [new MemoryTarget(), new MemoryTarget()];
  Object.assign(broken, {
    name: 'broken',
    read: () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 'text', done: false }) }) }),
    place: () => {
      throw new Error('no place');
    },
  });
  const world = await backupWorld(t, { targets: [broken, good] });
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  t.is(good.files.size, 2);
  t.regex(
    world.scheduler.problem,
    /the target broken has no complete copy: it returned something else than bytes/,
  );
  t.true(world.logged.some((line) => line.includes('fault place of the target broken')));
});

test('a local file that is gone is not copied', async (t) => {
  const target = new MemoryTarget();
  target.isSetUp = false;
  const world = await backupWorld(t, { targets: [target] });
  await world.scheduler.look();
  world.clock.tick(DAY);
  await world.scheduler.look();
  const [name = ''] = await world.names();
  const path = world.localFolder.fileOf(name);
  await rename(path, `${path}.away`);
  target.isSetUp = true;
  await world.scheduler.look();
  t.is(target.files.size, 0);
});
