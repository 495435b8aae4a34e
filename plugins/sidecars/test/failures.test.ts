// Programs that are missing, that die, hang, lie or flood: the inbound says so, and everything else goes on.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { World } from './world.js';

test('a missing program is named with the ways to bring it, and its clients can be edited', async (t) => {
  const program = { name: 'no-such-program', variable: 'TEST_NONE_BIN', hint: 'it is on example.com' };
  await using world = await World.open({ sidecar: { program } });
  await world.reaches(
    /^not running: there is no no-such-program: neither TEST_NONE_BIN nor .* nor PATH has one; it is on example\.com$/,
  );
  const { body } = await world.panel.call<null>('/panel/api/clients/add', {
    body: { client: { email: 'ann' }, inboundIds: [world.inboundId, await world.panel.addInbound()] },
  });
  t.true(body.success);
  t.regex(body.msg, /no-such-program/);
  t.is(world.engine.told.at(-1)?.length, 1, 'the core gets its user');
  t.deepEqual(await world.panel.get('/panel/api/x/sidecars'), []);
});

test('a variable that names no program, and a machine that lacks a right, are the reason that is shown', async (t) => {
  const chosen = '/nowhere/program';
  const program = { name: 'x', variable: 'TEST_FAKE_BIN', chosen, hint: 'write one' };
  await using first = await World.open({ sidecar: { program } });
  await first.reaches(
    /^not running: TEST_FAKE_BIN is \/nowhere\/program, which is not an executable program$/,
  );
  let lacks = true;
  const problem = () => (lacks ? 'it needs /dev/net/tun' : undefined);
  await using second = await World.open({ sidecar: { problem } });
  await second.reaches(/^not running: it needs \/dev\/net\/tun$/);
  lacks = false;
  await second.panel.get(`/panel/api/inbounds/update/${second.inboundId}`, {
    body: {
      ...(await second.panel.get<object>(`/panel/api/inbounds/get/${second.inboundId}`)),
      remark: 'again',
    },
  });
  await second.reaches(/^running$/);
  t.pass();
});

test('a program that dies at once is shown with its last words, and tried again', async (t) => {
  let mode: 'dies' | 'live' = 'dies';
  await using world = await World.open({ mode: () => mode });
  await world.reaches(/^not running: .*this program does not want to run/);
  mode = 'live';
  await world.panel.get(`/panel/api/inbounds/update/${world.inboundId}`, {
    body: {
      ...(await world.panel.get<object>(`/panel/api/inbounds/get/${world.inboundId}`)),
      remark: 'again',
    },
  });
  await world.reaches(/^running$/);
  t.pass();
});

test('a port that another program has is the reason that is shown, until it is free', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const other = createServer();
  for (let isTaken = false; !isTaken; ) {
    const { pid } = await world.status();
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since it was asked.
    }
    other.listen(world.port, '127.0.0.1');
    isTaken = await once(other, 'listening').then(
      () => true,
      () => false,
    );
  }
  await world.reaches(/^not running: .*cannot listen.*EADDRINUSE/);
  other.close();
  await world.reaches(/^running$/);
  t.pass();
});

test('counters that cannot be are named and not counted; the others are', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 0, 100);
  await world.poll();
  for (const [behaviour, problem] of [
    ['negative', /reports -5 and .* bytes of client 1|not of its inbounds/],
    ['nonsense', /counters cannot be read|not of its inbounds/],
    ['endless', /answers GET \/stats with more than \d+ bytes/],
  ] as const) {
    await world.call('/behave', behaviour);
    await world.poll();
    t.regex((await world.status()).problem, problem, behaviour);
  }
  await world.call('/behave', '');
  await world.move(id, 0, 1);
  await world.poll();
  await world.poll();
  t.like(await world.usage('ann'), { up: 0, down: 101 });
  await world.move(id, 0, 2 ** 52);
  await world.poll();
  const { down } = await world.usage('ann');
  t.true(down < 2 ** 40, `a jump counts as far as it is possible: ${down}`);
  t.truthy(world.panel.log.find((line) => line.includes('more bytes than can have moved')));
  t.deepEqual(world.panel.faults, []);
});

test('a program that hangs is restarted; while it hangs, edits are answered and the core is polled', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { pid } = await world.status();
  const vless = await world.panel.addInbound();
  const { id } = await world.panel.addClient('ann', [world.inboundId, vless]);
  await world.call('/behave', 'hang');
  const began = Date.now();
  const { body } = await world.panel.call('/panel/api/clients/update/ann', { body: { enable: false } });
  t.true(body.success);
  t.regex(body.msg, /took longer than 3 s/);
  t.true(Date.now() - began < 4500);
  await world.panel.get('/panel/api/clients/update/ann', { body: { enable: true } });
  world.engine.move(vless, id, 1, 2);
  await world.poll();
  t.like(await world.usage('ann'), { up: 1, down: 2 }, 'the core is counted');
  const polled = Date.now();
  await world.poll();
  t.true(Date.now() - polled < 3500, 'a program that was silent before is waited for less');
  for (let i = 0; i < 8 && (await world.status()).pid === pid; i++) {
    await world.poll();
    await sleep(2000);
  }
  await world.reaches(/^running$/);
  t.not((await world.status()).pid, pid);
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`], 'the new process has its users');
});

test('300 MiB of output end in a log of some MiB, and the panel answers meanwhile', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  await world.call('/behave', 'flood');
  const log = join(
    await world.panel.dataDirectory,
    'processes',
    'sidecars',
    `tuic-in-${world.inboundId}`,
    'output.log',
  );
  let slowest = 0;
  for (const deadline = Date.now() + 4000; Date.now() < deadline; await sleep(100)) {
    const began = performance.now();
    await world.status();
    slowest = Math.max(slowest, performance.now() - began);
    world.clock.tick(1000);
  }
  world.clock.tick(1000);
  await world.panel.kernel.settled();
  t.true((await stat(log)).size <= 8 * 1024 * 1024, `${(await stat(log)).size}`);
  t.true(slowest < 2000, `${slowest} ms`);
});
