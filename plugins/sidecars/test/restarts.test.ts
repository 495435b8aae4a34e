// Restarts of a program, planned and not: which bytes count.
import test from 'ava';
import { World } from './world.js';

const edited = async (world: World, fields: object): Promise<void> => {
  const inbound = await world.panel.get<object>(`/panel/api/inbounds/get/${world.inboundId}`);
  await world.panel.get(`/panel/api/inbounds/update/${world.inboundId}`, { body: { ...inbound, ...fields } });
};

test('a last reading is counted before a planned restart, and the new process has the users', async (t) => {
  let mark = '1';
  await using world = await World.open({ planEnv: () => ({ MARK: mark }) });
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 1000, 2000);
  await world.poll();
  await world.move(id, 10, 20);
  const { pid } = await world.status();
  mark = '2';
  await edited(world, { remark: 'other' });
  await world.reaches(/^running$/);
  t.not((await world.status()).pid, pid);
  t.like(await world.usage('ann'), { up: 1010, down: 2020 }, 'counted before any poll');
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`]);
  await world.move(id, 1, 2);
  await world.poll();
  await world.poll();
  t.like(await world.usage('ann'), { up: 1011, down: 2022 });
});

test('an edit that does not concern the process leaves it alone; disabling stops it with its bytes counted', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const { pid } = await world.status();
  await edited(world, { remark: 'other' });
  t.is((await world.status()).pid, pid);
  await world.move(id, 7, 7);
  await edited(world, { enable: false });
  t.is(await world.state(), 'not running: the inbound is disabled');
  t.deepEqual(await world.panel.get('/panel/api/x/sidecars'), []);
  await world.panel.kernel.settled();
  t.like(await world.usage('ann'), { up: 7, down: 7 });
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  await edited(world, { enable: true });
  await world.reaches(/^running$/);
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`]);
});

test('a killed program costs what moved since the last poll, and begins at zero', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 0, 500);
  await world.poll();
  const { pid } = await world.status();
  process.kill(pid, 'SIGKILL');
  await world.reaches(/^not running/);
  await world.reaches(/^running$/);
  t.deepEqual(await world.users(), [`i${world.inboundId}.c${id}`]);
  await world.move(id, 0, 600);
  await world.poll();
  t.like(await world.usage('ann'), { down: 1100 });
});

test('the panel stops its programs, and counts their last bytes', async (t) => {
  const world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const { pid } = await world.status();
  await world.move(id, 3, 4);
  const again = await world.reopened();
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  await using _ = again;
  t.like(await again.usage('ann'), { up: 3, down: 4 });
  await again.reaches(/^running$/);
  t.deepEqual(await again.users(), [`i${world.inboundId}.c${id}`]);
});

test('bytes that move while the process is being stopped count up to the last reading', async (t) => {
  await using world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 0, 100);
  await world.poll();
  await world.call('/behave', 'busy');
  await edited(world, { enable: false });
  await world.poll();
  t.like(await world.usage('ann'), { down: 102 }, 'a reading before the stop, and one at it');
});

test('bytes that a process moved without a panel count, though the next panel starts it in another way', async (t) => {
  let mark = '1';
  const world = await World.open({ planEnv: () => ({ MARK: mark }) });
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const { pid } = await world.status();
  await world.move(id, 0, 100);
  await world.poll();
  await world.move(id, 0, 11);
  await world.panel.kernel.stop('killed', true);
  mark = '2';
  await using again = await world.reopened();
  await again.reaches(/^running$/);
  t.not((await again.status()).pid, pid);
  await again.move(id, 0, 5);
  await again.poll();
  await again.poll();
  t.like(await again.usage('ann'), { down: 116 });
});

test('bytes of a process count that the next panel does not want', async (t) => {
  const world = await World.open();
  await world.reaches(/^running$/);
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  await world.move(id, 0, 11);
  await world.panel.kernel.stop('killed', true);
  await using again = await world.reopened({ plan: () => [] });
  await again.poll();
  await again.poll();
  t.like(await again.usage('ann'), { down: 11 });
});
