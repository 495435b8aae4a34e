// One place for one process: its record, whoever has written it, and programs that cannot be run.
import test, { type ExecutionContext } from 'ava';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CannotRun, type ProgramCall } from '../contract.js';
import { identify, isAlive, type ProcessIdentity } from '../identity.js';
import { Slot } from '../slot.js';
import { folderOf, isThere, type Line, logTo, processesBelow } from './world.js';

interface Note {
  readonly kind: string;
}
const isNote = (value: object): value is Note => typeof (value as Partial<Note>).kind === 'string';

/** A slot in a folder of its own. */
async function placeOf(t: ExecutionContext) {
  const root = await folderOf(t);
  const folder = join(root, 'place');
  await mkdir(folder);
  const lines: Line[] = [];
  const record = join(folder, 'process.json');
  const slot = () => new Slot<Note>({ record, isNote, log: logTo(lines) });
  const call: ProgramCall = {
    command: 'sleep',
    args: ['1000'],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: folder,
    output: join(folder, 'out.log'),
  };
  return { root, folder, record, slot, call, lines };
}

/** A process that no slot has started. */
async function stranger(t: ExecutionContext): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const identity = identify(child.pid ?? 0);
  if (!identity) throw new Error('it has no identity');
  return identity;
}

test('a process is found by the next one who looks, and its note with it', async (t) => {
  const { slot, call, folder } = await placeOf(t);
  const first = await slot().start(call, { kind: 'a' });
  await first.remember({ kind: 'b' });
  first.release();
  await t.throwsAsync(slot().start(call, { kind: 'c' }), { message: /already runs; adopt or stop it first/ });
  t.is(await slot().endStrays(), 0, 'a recorded one is no stray');
  const found = await slot().adopt();
  t.like(found, { identity: first.identity, startedAt: first.startedAt, note: { kind: 'b' } });
  await found?.stop();
  t.is(await found?.ended, 'ended by SIGTERM');
  t.deepEqual(await processesBelow(`${folder}/..`), []);
  t.like(await slot().recorded(), { alive: false, note: { kind: 'b' } });
  t.is(await slot().adopt(), undefined);
  await slot().forget();
  t.is(await slot().recorded(), undefined);
});

test('a pid that another program has by now, or had before a restart of the machine, is left alone', async (t) => {
  const { slot, call, record } = await placeOf(t);
  const other = await stranger(t);
  const wrong: [string, ProcessIdentity][] = [
    ['another start time', { ...other, startTicks: '1' }],
    ['another boot', { ...other, bootId: '00000000-0000-0000-0000-000000000000' }],
    ['all of it, but not of this slot', other],
    ['the first process', { ...other, pid: 1 }],
    ['ourselves', identify(process.pid) ?? other],
  ];
  for (const [what, identity] of wrong) {
    await writeFile(record, JSON.stringify({ identity, startedAt: 1, kind: 'a' }));
    t.is(await slot().adopt(), undefined, what);
    const started = await slot().start(call, { kind: 'a' });
    await started.stop();
    t.true(isAlive(other), what);
  }
});

test('does not adopt a process from before a reboot or with another start time', async (t) => {
  const { slot, call, record } = await placeOf(t);
  const ours = await slot().start(call, { kind: 'a' });
  for (const wrong of [{ bootId: '00000000-0000-0000-0000-000000000000' }, { startTicks: '1' }]) {
    const identity = { ...ours.identity, ...wrong };
    await writeFile(record, JSON.stringify({ identity, startedAt: 1, kind: 'a' }));
    t.is(await slot().adopt(), undefined);
    t.like(await slot().recorded(), { alive: false });
  }
  await ours.kill();
});

test('logs an unreadable record and starts the process', async (t) => {
  const { slot, call, record, lines } = await placeOf(t);
  const first = await slot().start(call, { kind: 'a' });
  const good = await readFile(record, 'utf8');
  await first.stop();
  const records = [
    '',
    good.slice(0, -10),
    'null',
    '[]',
    '"x"',
    '7',
    '{}',
    '\0\0\0',
    '['.repeat(1_000_000),
    JSON.stringify({ ...JSON.parse(good), identity: { pid: -1, startTicks: '1', bootId: '' } }),
    JSON.stringify({ ...JSON.parse(good), identity: { pid: '1; rm', startTicks: '1', bootId: '' } }),
    JSON.stringify({ ...JSON.parse(good), identity: null }),
    JSON.stringify({ ...JSON.parse(good), kind: 7 }),
  ];
  for (const text of records) {
    lines.length = 0;
    await writeFile(record, text);
    t.is(await slot().adopt(), undefined);
    t.is(lines.length, 1, text.slice(0, 40));
    const started = await slot().start(call, { kind: 'a' });
    t.true(started.alive);
    await started.stop();
  }
  // Ten gigabytes, of which none is on the disk.
  await writeFile(record, '');
  await truncate(record, 10 * 2 ** 30);
  t.is(await slot().adopt(), undefined);
  t.like(lines.at(-1)?.data, { reason: 'it is too large' });
  await rm(record);
  await mkdir(record);
  t.is(await slot().adopt(), undefined);
  await t.throwsAsync(slot().start(call, { kind: 'a' }), { message: /process\.json cannot be written/ });
  t.deepEqual(await processesBelow(join(record, '../..')), [], 'what cannot be recorded does not run');
});

test('kills an unrecorded process of ours, and no other', async (t) => {
  const { root, slot, call, record } = await placeOf(t);
  const other = await stranger(t);
  await mkdir(join(root, 'beside'));
  const neighbour = await new Slot<Note>({
    record: join(root, 'beside', 'process.json'),
    isNote,
    log: logTo([]),
  }).start({ ...call, cwd: join(root, 'beside') }, { kind: 'a' });
  const stray = await slot().start(call, { kind: 'a' });
  await rm(record);
  t.is(await slot().endStrays(), 1);
  t.is(await stray.ended, 'killed by SIGKILL');
  t.true(neighbour.alive && isAlive(other));
  await neighbour.stop();
});

test('where its folder is not there, nothing is left of it', async (t) => {
  const { folder, slot } = await placeOf(t);
  await rm(folder, { recursive: true });
  t.is(await slot().recorded(), undefined);
  t.is(await slot().endStrays(), 0);
});

test('a program that cannot be run is a sentence with the way out, and never a line for a shell', async (t) => {
  const { folder, slot, call } = await placeOf(t);
  const file = async (name: string, content: Buffer | string, mode = 0o755) => {
    await writeFile(join(folder, name), content, { mode });
    return join(folder, name);
  };
  const elf = Buffer.alloc(64);
  elf.write('\u007fELF', 'latin1');
  elf.set([2, 1, 1], 4);
  elf.writeUInt16LE(process.arch === 'x64' ? 183 : 62, 18);
  const good = Buffer.from(await readFile('/bin/sh')).subarray(0, 20);
  const wrong: [string, RegExp][] = [
    ['no-such-program', /^cannot run no-such-program: no folder in PATH has such a program; install it$/],
    ['/nowhere/x', /^cannot run \/nowhere\/x: there is no such file; install it$/],
    [folder, /it is not a file$/],
    [await file('plain', 'x', 0o644), /it is not executable; chmod \+x makes it so$/],
    [await file('empty', ''), /neither a binary for Linux nor a script/],
    [await file('lines', 'touch ran\n'), /neither a binary for Linux nor a script/],
    [await file('other', elf), /it was built for (arm64|x64), this machine is \w+; install the one for/],
    [await file('cut', Buffer.concat([good, Buffer.alloc(4)])), /^cannot run/],
    [await file('orphan', '#!/nowhere/interpreter\n'), /what runs it .* is not there/],
  ];
  for (const [command, message] of wrong)
    await t.throwsAsync(slot().start({ ...call, command }, { kind: 'a' }), {
      instanceOf: CannotRun,
      message,
    });
  t.deepEqual(await processesBelow(join(folder, '..')), []);
  await t.throwsAsync(readFile(join(folder, 'ran')), { code: 'ENOENT' });
  await t.throwsAsync(slot().start({ ...call, cwd: '/nowhere' }, { kind: 'a' }), {
    message: /working folder/,
  });

  const script = await file('script', '#!/bin/sh\nprintf "%s|" "$@"\n');
  const args = ['$(touch ran)', '; touch ran', '`touch ran`', '', '\'"', '*', '\n'];
  const ran = await slot().start({ ...call, command: script, args }, { kind: 'a' });
  t.is(await ran.ended, 'exit code 0');
  t.is(await readFile(call.output, 'utf8'), `${args.join('|')}|`);
  await t.throwsAsync(readFile(join(folder, 'ran')), { code: 'ENOENT' });
});

test('a program that somebody is writing is a sentence too', async (t) => {
  const { folder, slot, call } = await placeOf(t);
  const path = join(folder, 'busy');
  await copyFile('/bin/sleep', path);
  await chmod(path, 0o755);
  const writer = await open(path, 'r+');
  await t.throwsAsync(slot().start({ ...call, command: path }, { kind: 'a' }), {
    instanceOf: CannotRun,
    message: /somebody is writing the file/,
  });
  await writer.close();
  const started = await slot().start({ ...call, command: path }, { kind: 'a' });
  await started.kill();
  t.is(await started.ended, 'killed by SIGKILL');
  t.false(await isThere(started.identity.pid));
});
