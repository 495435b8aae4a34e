// Programs that lie about others, and machines that are in the way: ports that are taken, files that cannot be written.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { World } from './world.js';

const folderOf = ({ panel, inboundId }: World): string =>
  join(panel.dataDirectory, 'processes', 'sidecars', `tuic-in-${inboundId}`);
const recordOf = ({ panel, inboundId }: World): string =>
  join(panel.dataDirectory, 'sidecars', 'tuic', `in-${inboundId}.json`);
const secretOf = async (world: World): Promise<string> =>
  (JSON.parse(await readFile(recordOf(world), 'utf8')) as { secret: string }).secret;
const edited = async (world: World, fields: object): Promise<void> => {
  const inbound = await world.panel.get<object>(`/panel/api/inbounds/get/${world.inboundId}`);
  await world.panel.get(`/panel/api/inbounds/update/${world.inboundId}`, { body: { ...inbound, ...fields } });
};

test('bytes of a client that the inbound does not have are not counted, and those of its own are', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  const { id: eve } = await panel.addClient('eve', [await panel.addInbound()]);
  await world.move(eve, 0, 5000);
  await world.move(ann, 0, 10);
  await world.poll();
  t.like(await world.usage('eve'), { down: 0 });
  t.like(await world.usage('ann'), { down: 10 });
  t.regex((await world.status()).problem, /it counts client \d+, which inbound \d+ does not have/);
  t.deepEqual(panel.faults, []);
});

test('a counter that is no number does not fill the log, however long it is', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.call('/move', { name: `i${world.inboundId}.c${id}`, up: 'x'.repeat(4_000_000), down: 1 });
  await world.poll();
  const { problem } = await world.status();
  t.regex(problem, /^it reports .* bytes of client \d+, which cannot be; they are not counted$/);
  t.true(problem.length < 300);
  t.true(world.panel.log.every((line) => line.length < 10_000));
});

test('a program whose own port is taken while it is down gets another one; who took it has no secret of use', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const { ports } = await world.status();
  const asked: string[] = [];
  const thief = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.end('{}');
  });
  for (let isTaken = false; !isTaken; ) {
    const { pid } = await world.status();
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since it was asked.
    }
    thief.listen(ports['api'], '127.0.0.1');
    isTaken = await once(thief, 'listening').then(
      () => true,
      () => false,
    );
  }
  t.teardown(() => thief.close());
  await until(async () => {
    world.clock.tick(5000);
    const now = await world.status();
    return now.ports['api'] !== ports['api'] && (await world.state()) === 'running';
  }, 'it runs with another port');
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`]);
  // A poll may have asked before the panel saw that its program is gone.
  const secret = await secretOf(world);
  t.deepEqual(
    asked.filter((request) => request.includes(secret)),
    [],
  );
  t.true(asked.length <= 1, asked.join());
});

test('files that cannot be written at first: it starts as soon as they can', async (t) => {
  await using world = await World.open();
  await edited(world, { enable: false });
  const obstacle = join(folderOf(world), 'users.json');
  await mkdir(obstacle, { recursive: true });
  await edited(world, { enable: true });
  await world.reaches(/^not running: it cannot be started: /);
  await rm(obstacle, { recursive: true });
  world.clock.tick(5000);
  await world.reaches(/^running$/);
  t.pass();
});

test('files that cannot be written for a change: what runs goes on, and the change follows', async (t) => {
  let mark = '1';
  await using world = await World.open({ planEnv: () => ({ MARK: mark }) });
  await world.reaches(/^running$/);
  const { pid } = await world.status();
  const file = join(folderOf(world), 'users.json');
  await rm(file);
  await mkdir(file);
  mark = '2';
  await edited(world, { remark: 'other' });
  const { problem, ...status } = await world.status();
  t.like(status, { pid, state: 'running' });
  t.regex(problem, /^it cannot be started: /);
  await rm(file, { recursive: true });
  world.clock.tick(5000);
  await until(
    async () => (await world.status()).pid !== pid && (await world.state()) === 'running',
    'restarted',
  );
  t.like(await world.status(), { problem: '' });
  t.is(await readFile(file, 'utf8'), '[]');
});

test('a program that goes away: what runs goes on, and an edit says that it is not applied', async (t) => {
  let problem: string | undefined;
  await using world = await World.open({ sidecar: { problem: () => problem } });
  await world.reaches(/^running$/);
  const { pid } = await world.status();
  problem = 'the device has gone';
  const inbound = await world.panel.get<object>(`/panel/api/inbounds/get/${world.inboundId}`);
  const { body } = await world.panel.call(`/panel/api/inbounds/update/${world.inboundId}`, {
    body: { ...inbound, remark: 'other' },
  });
  t.true(body.success);
  t.regex(body.msg, /the device has gone/);
  t.like(await world.status(), { pid, state: 'running', problem });
});

for (const [what, content, mode, expected] of [
  ['that is not executable', '#!/bin/sh\n', 0o644, /which is not an executable program$/],
  [
    'for another machine',
    '\u007fELF\u0002\u0001\u0001',
    0o755,
    /another (?:machine|system|kind)|cannot run|ENOEXEC/i,
  ],
  ['with an interpreter that is missing', '#!/no/such/interpreter\n', 0o755, /interpreter|missing|cannot/],
] as const)
  test(`a program ${what} is the reason that is shown, and everything else works`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-fake-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const chosen = join(folder, 'program');
    await writeFile(chosen, content, 'latin1');
    await chmod(chosen, mode);
    const program = { name: 'x', variable: 'TEST_FAKE_BIN', chosen, hint: 'write one' };
    await using world = await World.open({ sidecar: { program } });
    await world.reaches(expected);
    t.true((await world.panel.addInbound()) > 0);
    await world.panel.addClient('ann', [world.inboundId]);
    t.deepEqual(world.panel.faults, []);
  });

test('a program that does not end when it is asked to is killed, and its last bytes are counted', async (t) => {
  let mark = '1';
  await using world = await World.open({ planEnv: () => ({ MARK: mark, BEHAVIOUR: 'stubborn' }) });
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 0, 77);
  const { pid } = await world.status();
  mark = '2';
  await edited(world, { remark: 'other' });
  await until(
    async () => (await world.status()).pid !== pid && (await world.state()) === 'running',
    'restarted',
  );
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  await world.poll();
  t.like(await world.usage('ann'), { down: 77 });
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`]);
});

test('what the panel holds for a program is private, and in no reply and no log', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { panel, inboundId } = world;
  await panel.addClient('ann', [inboundId]);
  const secret = await secretOf(world);
  for (const [path, wanted] of [
    [recordOf(world), 0o600],
    [join(folderOf(world), 'users.json'), 0o600],
    [folderOf(world), 0o700],
  ] as const)
    t.is((await stat(path)).mode & 0o777, wanted, path);
  await world.call('/behave', 'refuse');
  await panel.call('/panel/api/clients/update/ann', { body: { enable: false } });
  const shown = [
    ...panel.log,
    JSON.stringify(await panel.get('/panel/api/x/sidecars')),
    JSON.stringify(await panel.get(`/panel/api/inbounds/get/${inboundId}`)),
  ].join();
  t.false(shown.includes(secret));
});

test('a program that takes users but tells no counters is restarted, less and less often', async (t) => {
  await using world = await World.open({ planEnv: () => ({ BEHAVIOUR: 'nonsense' }) });
  await until(async () => (await world.status()).pid > 0, 'it runs');
  await world.panel.addClient('ann', [world.inboundId]);
  const pids: number[] = [];
  for (let second = 0; second < 100; second += 5) {
    await world.poll();
    await until(async () => (await world.status()).pid > 0, 'it runs');
    pids.push((await world.status()).pid);
  }
  const lives = [...new Set(pids)].map((pid) => pids.filter((other) => other === pid).length);
  t.true(lives.length >= 3, lives.join());
  t.true((lives[1] ?? 0) > (lives[0] ?? 0), lives.join());
  t.regex((await world.status()).problem, /counters cannot be read|does not take its users/);
});
