// Real processes under a handle: started, ready, ended, started again, stopped.
import test from 'ava';
import { chmod, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ManagedProcess, ProcessOptions } from '../contract.js';
import { listensOn, logSays } from '../probes.js';
import { folderOf, isThere, pidOf, processesBelow, script, until, World } from './world.js';

test('a process is started, told of, and stopped without a trace', async (t) => {
  const world = await World.open(t);
  const one = world.manage();
  const heard: string[] = [];
  const deaf = one.onState(() => heard.push('deaf'));
  deaf();
  one.onState(() => {
    throw new Error('a listener that fails');
  });
  one.onState(({ name }) => heard.push(name));
  t.is(one.state.name, 'stopped');
  const state = await one.start();
  const pid = pidOf(state);
  // proc(5): fields 5 and 6 are process group and session.
  t.deepEqual((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ').slice(2, 4), [
    `${pid}`,
    `${pid}`,
  ]);
  t.like(state, { name: 'running', adopted: false });
  t.is((await one.start()).name, 'running');
  t.is(pidOf(one.state), pid, 'a second start is none');
  const record = join(one.folder, 'process.json');
  t.is((await stat(record)).mode & 0o777, 0o600);
  t.is((await stat(join(one.folder, 'output.log'))).mode & 0o777, 0o600);
  t.is((await stat(one.folder)).mode & 0o777, 0o700);
  await one.stop();
  t.false(await isThere(pid), 'not even a zombie is left');
  await t.throwsAsync(stat(record), { code: 'ENOENT' });
  await one.stop();
  t.deepEqual(heard, ['starting', 'running', 'stopping', 'stopped', 'stopping', 'stopped']);
  t.like(world.events[1], { plugin: 'acme', name: 'one', from: 'starting', to: 'running', reason: '' });
});

test('one that ignores SIGTERM is killed after its grace, and so are the children it leaves', async (t) => {
  const world = await World.open(t);
  const child =
    "require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref();";
  const one = world.manage({
    ...script(
      `process.on('SIGTERM', () => console.log('no')); ${child} setInterval(() => {}, 1000); console.log('up')`,
    ),
    ready: logSays(/^up$/m),
    stopGrace: 300,
  });
  const pid = pidOf(await one.start());
  t.is((await processesBelow(world.data)).length, 2);
  await one.stop();
  t.false(await isThere(pid));
  t.deepEqual(await processesBelow(world.data), []);
  t.regex(await world.output(), /no/, 'it was asked first');
});

test('the stop signal is the one that is asked for', async (t) => {
  const world = await World.open(t);
  const one = world.manage({
    ...script(
      "process.on('SIGINT', () => { console.log('int'); process.exit() }); setInterval(() => {}, 1000); console.log('up')",
    ),
    ready: logSays(/up/),
    stopSignal: 'SIGINT',
  });
  await one.start();
  await one.stop();
  t.is(await world.output(), 'up\nint\n');
});

test('one that ends at once is tried again with pauses, and given up after as many attempts as are allowed', async (t) => {
  const world = await World.open(t);
  const one = world.manage({
    ...script(''),
    command: '/bin/sh',
    args: ['-c', 'echo "bad \u001b[31mport"; exit 3'],
    ready: () => new Promise(() => undefined),
    backOff: { first: 1, last: 2, attempts: 100 },
  });
  const given = new Promise<void>((resolve) => one.onState(({ name }) => name === 'failed' && resolve()));
  const state = await one.start();
  t.like(state, { name: 'waiting', reason: 'the process ended by itself (exit code 3): bad [31mport' });
  await given;
  t.like(one.state, {
    reason: 'the process ended by itself (exit code 3): bad [31mport',
    lastLines: ['bad [31mport'],
  });
  t.is((await world.output()).split('\n').length, 101);
  t.is(world.lines.filter(({ message }) => message === 'the process failed; retrying').length, 1);
  t.deepEqual(await processesBelow(world.data), []);
  t.is((await one.start()).name, 'waiting', 'a start begins to count again');
  await one.stop();
  t.is(one.state.name, 'stopped');
});

test('one that was healthy for a while begins to count its attempts again', async (t) => {
  const world = await World.open(t);
  const one = world.manage({
    ...script('setTimeout(() => {}, 50)'),
    backOff: { first: 1, last: 1, healthy: 1, attempts: 2 },
  });
  let starts = 0;
  one.onState(({ name }) => name === 'running' && starts++);
  await one.start();
  await until(() => starts > 4, 'it is started again and again');
  await one.stop();
  t.not(one.state.name, 'failed');
});

test('one that dies is started again; a stop ends the wait for that', async (t) => {
  const world = await World.open(t);
  const one = world.manage({ backOff: { first: 10 } });
  const first = pidOf(await one.start());
  process.kill(first, 'SIGKILL');
  await until(() => one.state.name === 'running' && one.state.pid !== first, 'another one runs');
  t.like(
    world.events.find(({ to }) => to === 'waiting'),
    { reason: 'the process ended by itself (killed by SIGKILL)' },
  );
  const waits = world.manage({
    name: 'two',
    ...script('process.exit(1)'),
    ready: () => false,
    backOff: { first: 86_400_000, last: 86_400_000 },
  });
  t.is((await waits.start()).name, 'waiting');
  await waits.stop();
  t.is(waits.state.name, 'stopped');
  await one.stop();
});

test('a probe that refuses, throws, hangs or answers something else has until the limit', async (t) => {
  const world = await World.open(t);
  const wrong: [ProcessOptions['ready'], RegExp][] = [
    [() => false, /^the process was not ready within 0\.2 s$/],
    [() => Promise.reject(new Error('nobody answers')), /within 0\.2 s: nobody answers$/],
    [() => new Promise(() => undefined), /within 0\.2 s$/],
    [(() => 'yes') as never, /within 0\.2 s$/],
  ];
  for (const [ready, reason] of wrong) {
    const one = world.manage({ ready: ready as never, readyWithin: 200 });
    const state = await one.start();
    t.is(state.name, 'waiting');
    t.regex('reason' in state ? state.reason : '', reason);
    t.deepEqual(await processesBelow(world.data), []);
    await one.stop();
  }
});

test('a port and a socket are waited for', async (t) => {
  const world = await World.open(t);
  const holder = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = holder.address() as { port: number };
  await new Promise((resolve) => holder.close(resolve));
  const late = (where: string) =>
    script(`setTimeout(() => require('node:net').createServer().listen(${where}), 200)`);
  const onPort = world.manage({ ...late(`${port}, '127.0.0.1'`), ready: listensOn({ port }) });
  const socket = join(world.data, 's.sock');
  const onSocket = world.manage({
    name: 'two',
    ...late(JSON.stringify(socket)),
    ready: listensOn({ socket }),
  });
  t.is((await onPort.start()).name, 'running');
  t.is((await onSocket.start()).name, 'running');
  t.true((await stat(socket)).isSocket());
  await Promise.all([onPort.stop(), onSocket.stop()]);
});

test('a stop during a start ends it, a start during a stop comes after it', async (t) => {
  const world = await World.open(t);
  const one = world.manage({ ready: () => false, readyWithin: 86_400_000 });
  const starting = one.start();
  await until(async () => (await processesBelow(world.data)).length > 0, 'it is being started');
  await one.stop();
  t.is((await starting).name, 'starting');
  t.deepEqual(await processesBelow(world.data), []);

  const two = world.manage({ name: 'two' });
  const first = pidOf(await two.start());
  const stopping = two.stop();
  const again = two.start();
  await stopping;
  t.not(pidOf(await again), first);
  t.false(await isThere(first));
  await two.stop();
});

/** Ends with 9 when another one runs already. */
const ALONE =
  "const fs = require('node:fs'); try { fs.mkdirSync('lock') } catch { console.log('two'); process.exit(9) } " +
  "process.on('SIGTERM', () => { fs.rmdirSync('lock'); process.exit() }); console.log('up'); setInterval(() => {}, 1000)";

test('there are never two of them, whatever is called at once', async (t) => {
  const world = await World.open(t);
  const one = world.manage({ ...script(ALONE), ready: logSays(/up/), backOff: { first: 5 } });
  const calls: ((handle: ManagedProcess) => Promise<unknown>)[] = [
    (handle) => handle.start(),
    (handle) => handle.stop(),
    (handle) => handle.restart(),
    (handle) => handle.restart({ startedWith: 'another' }),
  ];
  let seed = 7;
  const work: Promise<unknown>[] = [];
  for (let i = 0; i < 40; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    const call = calls[(seed >> 8) % calls.length];
    work.push(call?.(one) ?? Promise.resolve());
    if (i % 4 === 0)
      await Promise.race([work.at(-1), new Promise((resolve) => setTimeout(resolve, seed % 60))]);
  }
  await Promise.all(work);
  await one.start();
  await until(() => one.state.name === 'running', 'it runs in the end');
  t.is((await processesBelow(world.data)).length, 1);
  t.notRegex(await world.output(), /two/);
  await one.stop();
  t.deepEqual(await processesBelow(world.data), []);
});

test('it sees a few variables of the panel and its own, and nothing of them is logged', async (t) => {
  const world = await World.open(t);
  process.env['WEIR_TEST_SECRET'] = 'of the panel';
  t.teardown(() => delete process.env['WEIR_TEST_SECRET']);
  const one = world.manage({
    ...script('console.log(JSON.stringify(process.env)); setInterval(() => {}, 1000)'),
    env: { TOKEN: 'geheim', LANG: 'C' },
    ready: logSays(/}/),
  });
  await one.start();
  await one.stop();
  const seen = JSON.parse(await world.output()) as Record<string, string>;
  t.like(seen, { TOKEN: 'geheim', LANG: 'C', PATH: process.env['PATH'] ?? '' });
  t.deepEqual(
    Object.keys(seen).filter(
      (name) => !/^(PATH|HOME|LANG|TZ|TMPDIR|SSL_CERT_(FILE|DIR)|TOKEN|MANAGED_BY_WEIR)$/.test(name),
    ),
    [],
  );
  t.false(JSON.stringify([world.lines, world.events]).includes('geheim'));
});

test('a process that writes without end is cut in place, and the older part is kept', async (t) => {
  const world = await World.open(t);
  const one = world.manage({
    command: '/bin/sh',
    args: [
      '-c',
      'i=0; while :; do i=$((i+1)); echo "line $i ........................................"; done',
    ],
    log: { maxBytes: 100_000, keep: 2 },
  });
  await one.start();
  const log = join(one.folder, 'output.log');
  const sizes = () =>
    Promise.all(
      ['', '.1', '.2', '.3'].map((end) =>
        stat(log + end).then(
          ({ size }) => size,
          () => -1,
        ),
      ),
    );
  let cuts = 0;
  await until(async () => {
    if (((await sizes())[0] ?? 0) > 100_000) {
      await world.table.cutLogs();
      cuts += 1;
    }
    return cuts === 4;
  }, 'it is cut four times');
  await until(async () => ((await sizes())[0] ?? 0) > 1000, 'it goes on');
  await one.stop();
  const [, first = 0, second = 0, third] = await sizes();
  // With what was written during the copy.
  t.deepEqual([first > 90_000, first < 3_000_000, second < 3_000_000, third], [true, true, true, -1]);
  // A file that were not appended to would have a hole at its beginning.
  t.false((await readFile(log)).includes(0));
  t.is((await stat(`${log}.1`)).mode & 0o777, 0o600);
});

test('options that cannot be are refused by name, and nothing is made', async (t) => {
  const world = await World.open(t);
  const wrong: [Partial<ProcessOptions>, RegExp][] = [
    [{ name: '../evil' }, /option name .*lower-case letters/],
    [{ name: 'A' }, /option name/],
    [{ name: '' }, /option name/],
    [{ name: 'x'.repeat(49) }, /option name/],
    [{ command: 'bin/x' }, /option command .*absolute path/],
    [{ command: '' }, /option command/],
    [{ command: 'a\0b' }, /option command .*zero byte/],
    [{ args: 'rm -rf /' as never }, /option args .*list/],
    [{ args: ['a\0'] }, /option args .*zero byte/],
    [{ args: [1 as never] }, /option args .*not a text/],
    [{ args: ['x'.repeat(200_000)] }, /option args .*128 KiB/],
    [{ env: { 'A=B': '' } }, /option env .*A=B/],
    [{ env: { A: 'a\0' } }, /option env\.A/],
    [{ cwd: '/' }, /option cwd .*data folder/],
    [{ cwd: '../../../..' }, /option cwd/],
    [{ ready: true as never }, /option ready/],
    [{ readyWithin: NaN }, /option readyWithin/],
    [{ log: { maxBytes: 0 } }, /option log\.maxBytes/],
    [{ log: { keep: 1e9 } }, /option log\.keep/],
    [{ backOff: { first: 0 } }, /option backOff\.first/],
    [{ backOff: { first: 10, last: 5 } }, /option backOff\.last/],
    [{ backOff: { attempts: 0 } }, /option backOff\.attempts/],
    [{ stopSignal: 'SIGSTOP' as never }, /option stopSignal/],
    [{ stopGrace: -1 }, /option stopGrace/],
  ];
  for (const [options, message] of wrong) t.throws(() => world.manage(options), { message }, message.source);
  t.throws(() => world.manage({}, '../evil'), { message: /what the plugin receives/ });
  await t.throwsAsync(stat(join(world.data, 'processes')), { code: 'ENOENT' });

  const one = world.manage();
  await one.start();
  t.throws(() => world.manage(), { message: /acme\/one already exists; stop it first/ });
  await t.throwsAsync(one.restart({ cwd: '/' }), { message: /option cwd/ });
  t.is(one.state.name, 'running', 'a restart that cannot be leaves it running');
  await one.stop();
  const next = world.manage();
  t.is((await next.start()).name, 'running', 'a name that was stopped may be taken again');
  await one.start();
  t.deepEqual(await processesBelow(world.data), [pidOf(next.state)], 'and its old handle is of no use');
});

test('a working folder that leads out of the data folder by a link is refused', async (t) => {
  const world = await World.open(t);
  const elsewhere = await folderOf(t);
  await mkdir(join(world.data, 'place'));
  await symlink(elsewhere, join(world.data, 'place', 'link'));
  const one = world.manage({ cwd: join(world.data, 'place', 'link') });
  const state = await one.start();
  t.regex('reason' in state ? state.reason : '', /leads out of the data folder/);
  await one.stop();
});

test('a folder of the process that is a link out of the data folder is left as it is', async (t) => {
  const world = await World.open(t);
  const elsewhere = await folderOf(t);
  await chmod(elsewhere, 0o755);
  await mkdir(join(world.data, 'processes', 'acme'), { recursive: true });
  await symlink(elsewhere, join(world.data, 'processes', 'acme', 'one'));
  const one = world.manage({ cwd: world.data });
  const state = await one.start();
  t.regex('reason' in state ? state.reason : '', /processes\/acme\/one leads out of the data folder/);
  t.is((await stat(elsewhere)).mode & 0o777, 0o755);
  await one.stop();
});
