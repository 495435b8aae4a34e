// Users of a sidecar: added, changed and removed while it runs, with limits as in the core.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { kernelErrors } from '../../../kernel/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import traffic from '../../traffic/index.js';
import type { StreamBaselines } from '../../traffic/stream-baselines.js';
import { World } from './world.js';

test('users come and go while the program runs, each edit by one call that names them alone', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { pid } = await world.status();
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  const { id: bob } = await panel.addClient('bob', [inboundId]);
  t.deepEqual(await world.users(), [`i${inboundId}.c${ann}`, `i${inboundId}.c${bob}`]);
  t.deepEqual(await world.call('/calls').then((calls) => Object(calls).some), 2);
  await panel.get(`/panel/api/clients/update/ann`, { body: { enable: false } });
  t.deepEqual(await world.users(), [`i${inboundId}.c${bob}`]);
  await panel.get(`/panel/api/clients/update/ann`, { body: { enable: true } });
  await panel.get(`/panel/api/clients/update/bob`, { body: { comment: 'no account changes' } });
  await panel.get(`/panel/api/clients/del/bob`, { body: {} });
  t.deepEqual(await world.users(), [`i${inboundId}.c${ann}`]);
  const calls = await world.call<{ whole: number; some: number }>('/calls');
  t.like(calls, { whole: 1, some: 5 });
  t.like(await world.status(), { pid, live: true, problem: '', state: 'running' });
});

test('bytes are counted once, and a quota and an expiry from the first use hold as in the core', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId], { totalGB: 1000, expiryTime: -86_400_000 });
  const { id: bob } = await panel.addClient('bob', [inboundId]);
  await world.move(ann, 100, 200);
  await world.poll();
  await world.poll();
  t.like(await world.usage('ann'), { up: 100, down: 200, enable: true });
  t.true((await world.usage('ann')).expiryTime > world.clock.now(), 'its time has begun');
  t.deepEqual(await panel.get('/panel/api/clients/onlines', { method: 'POST' }), ['ann']);
  await world.move(ann, 0, 900);
  await world.move(bob, 1, 1);
  await world.poll();
  t.like(await world.usage('ann'), { up: 100, down: 1100, enable: false });
  t.deepEqual(await world.users(), [`i${inboundId}.c${bob}`]);
  const { up, down } = await panel.get<{ up: number; down: number }>(`/panel/api/inbounds/get/${inboundId}`);
  t.deepEqual([up, down], [101, 1101]);
  await panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  await world.move(ann, 5, 5);
  await world.poll();
  t.like(await world.usage('ann'), { up: 5, down: 5, enable: true }, 'its counter began again at zero');
});

test('what a user moved until its removal counts, also where the program forgets its counter', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  await world.move(ann, 0, 500);
  await world.poll();
  await world.move(ann, 0, 70);
  await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  await panel.get('/panel/api/clients/update/ann', { body: { enable: true } });
  // More than before: nothing shows that the counter fell in between.
  await world.move(ann, 0, 600);
  await world.poll();
  t.like(await world.usage('ann'), { down: 500 + 70 + 600 });
});

test('users of a program that reads them when it starts: one restart for several edits, nothing lost', async (t) => {
  await using world = await World.open({ mode: () => 'files' });
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  await world.reaches(/^running$/);
  const { id: bob } = await panel.addClient('bob', [inboundId]);
  await panel.addClient('cid', [inboundId]);
  // Two edits at a time: one of them finds that the program has just been restarted.
  const told = await Promise.all([
    panel.call('/panel/api/clients/update/cid', { body: { enable: false } }),
    panel.call('/panel/api/clients/update/bob', { body: { password: 'another-one' } }),
  ]);
  t.regex(told.map(({ body }) => body.msg).join(), /reads its users when it starts/);
  for (let i = 0; i < 100 && (await world.users().catch(() => [])).length < 2; i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  t.deepEqual(await world.users(), [`i${inboundId}.c${ann}`, `i${inboundId}.c${bob}`]);
  t.like(await world.status(), { live: false });
  await world.move(ann, 10, 20);
  await panel.get(`/panel/api/inbounds/update/${inboundId}`, {
    body: { ...(await panel.get<object>(`/panel/api/inbounds/get/${inboundId}`)), remark: 'other' },
  });
  await new Promise((resolve) => setTimeout(resolve, 5200));
  await panel.get('/panel/api/clients/del/bob', { body: {} });
  await world.reaches(/^running$/);
  await world.poll();
  t.like(await world.usage('ann'), { up: 10, down: 20 });
});

test('while the database fails, a client at its quota leaves the program at once, and comes back with its reset', async (t) => {
  const inside = servicesOf<{ streamBaselines: StreamBaselines }>(traffic);
  await using world = await World.open({ plugins: [inside.plugin] });
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId], { totalGB: 1000 });
  const { id: bob } = await panel.addClient('bob', [inboundId]);
  const { streamBaselines } = inside.services;
  const { save } = streamBaselines;
  streamBaselines.save = () => Promise.reject(kernelErrors.STORAGE());
  await world.move(ann, 0, 2000);
  await world.poll();
  t.deepEqual(await world.users(), [`i${inboundId}.c${bob}`]);
  t.like(await world.usage('ann'), { down: 0, enable: true }, 'nothing is written');
  streamBaselines.save = save;
  await world.poll();
  t.like(await world.usage('ann'), { down: 2000, enable: false });
});

test('a reading that a removal overtakes does not make bytes count twice', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId]);
  await world.move(ann, 0, 500);
  await world.poll();
  await world.move(ann, 0, 70);
  await world.call('/behave', 'slow once');
  const polled = world.poll();
  await sleep(300);
  await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  await polled;
  await world.poll();
  t.like(await world.usage('ann'), { down: 570 });
});

test('what a client moved until it is detached from the inbound counts', async (t) => {
  await using world = await World.open();
  const { panel, inboundId } = world;
  await world.reaches(/^running$/);
  const { id: ann } = await panel.addClient('ann', [inboundId, await panel.addInbound()]);
  await world.move(ann, 0, 500);
  await world.poll();
  await world.move(ann, 0, 70);
  await panel.get('/panel/api/clients/ann/detach', { body: { inboundIds: [inboundId] } });
  await world.poll();
  await world.poll();
  t.like(await world.usage('ann'), { down: 570 });
  t.deepEqual(await world.users(), []);
});
