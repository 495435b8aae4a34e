import test from 'ava';
import { createLog } from '../../../panel/log.js';
import { Accesses } from '../logs/accesses.js';
import type { AcceptedPeer } from '../contract.js';
import { World } from './world.js';

const log = createLog({ level: 'error', readable: true, write: () => undefined });

test('followers receive accepted connections of our users only, and nothing is read without followers', async (t) => {
  const world = new World();
  await world.open();
  const accesses = new Accesses({ log, supervisor: world.supervisor });
  world.driver.lines.push(
    { name: 'i1.c2', address: '127.0.0.1', port: 5 },
    { name: 'somebody', address: '127.0.0.1', port: 6 },
  );
  await accesses.catchUp();
  t.is(world.driver.lines.length, 2);
  const heard: AcceptedPeer[] = [];
  accesses.follow(() => {
    throw new Error('one follower fails');
  });
  const leave = accesses.follow((batch) => void heard.push(...batch));
  await accesses.catchUp();
  t.deepEqual(heard, [{ inboundId: 1, clientId: 2, address: '127.0.0.1', port: 5 }]);
  leave();
  world.driver.lines.push({ name: 'i1.c2', address: '127.0.0.1', port: 7 });
  await accesses.catchUp();
  t.is(heard.length, 1);
});

test('a core that is missing or does not answer fails no follower', async (t) => {
  const world = new World();
  const accesses = new Accesses({ log, supervisor: world.supervisor });
  accesses.follow(() => undefined);
  await t.notThrowsAsync(accesses.catchUp());
  await world.open();
  world.driver.silent.set('accepted', 1);
  await t.notThrowsAsync(accesses.catchUp());
});

test('everybody is admitted until the config is known, then who is a user of an inbound that runs', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.users.set('i2.c1', 'no such inbound');
  const admits = (inboundId: number, clientId: number) => world.supervisor.admits({ inboundId, clientId });
  t.true(admits(1, 9));
  await world.open();
  t.true(admits(1, 1));
  t.false(admits(1, 9));
  t.false(admits(2, 1));
  world.users.delete('i1.c1');
  t.false(admits(1, 1));
});
