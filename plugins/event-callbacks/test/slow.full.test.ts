// An attempt may take 20 s, and 10,000 take a while.
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { bootWithEndpoints as boot } from './endpoint-world.js';
import { type Sensor, sensors } from './sensors.js';

test.serial('endpoints that hang delay no other, and are given up after 15 s', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  let most = 0;
  const silent = await Promise.all(
    Array.from({ length: 12 }, () => {
      let open = 0;
      return add((_, reply) => {
        most = Math.max(most, ++open);
        reply.on('close', () => open--);
      });
    }),
  );
  const trickling = await add((_, reply) => {
    const { socket } = reply;
    socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket?.write('x-slow: 1\r\n'), 200);
    socket?.on('close', () => clearInterval(timer));
  });
  const good = await add();
  const began = Date.now();
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound]);
  await until(() => good.receiver.received.length === 2, 'the good one gets both');
  t.true(Date.now() - began < 5_000, 'at once');
  await until(async () => (await silent[0]?.endpoint())?.failures === 1, 'a silent one fails');
  t.is(most, 1, 'one attempt at a time');
  await until(async () => (await trickling.endpoint()).failures === 1, 'a trickling one fails');
  t.true(Date.now() - began >= 14_900);
  t.regex((await silent[11]?.endpoint())?.lastError ?? '', /did not answer within 15 s|longer than/);
  const { waiting } = await trickling.endpoint();
  t.is(waiting, 2);
});

test.serial(
  'of a call with more than 10,000 events the rest is summarised, and all arrive in order',
  async (t) => {
    const { plugin, read } = sensors();
    await using world = await boot({ plugins: [plugin] });
    const { receiver, endpoint } = await world.add(undefined, ['sensors.*']);
    await read(12_500);
    const began = performance.now();
    let arrived = 0;
    while (receiver.received.length < 10_001) {
      await until(() => receiver.received.length > arrived || arrived >= 10_001, 'events go on arriving');
      arrived = receiver.received.length;
    }
    t.log(`${Math.round(10_001_000 / (performance.now() - began))} deliveries a second`);
    const ids = receiver.received.slice(0, 10_000).map(({ json }) => (json.data['sensor'] as Sensor).id);
    t.true(ids.every((id, i) => id === i));
    const { summary, count, names } = receiver.received.at(-1)?.json.data ?? {};
    t.deepEqual([summary, count], [true, 2_500]);
    t.is((names as string[]).length, 1_000);
    t.is((names as string[])[0], 's10000');
    await until(async () => (await endpoint()).waiting === 0, 'nothing waits');
  },
);
