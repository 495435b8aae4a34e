// Runs on every database in test:full.
// Many events at once, and none that anybody wants.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import test from 'ava';
import { definePlugin, Refusal, stage, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import { type ClientRow, duringClientSave } from '../../clients/contract.js';
import type { EndpointReply } from '../fields.js';
import { bootWithEndpoints } from './endpoint-world.js';
import { clientOf } from './receiver.js';
import { type Sensor, sensors } from './sensors.js';

const PATH = '/panel/api/x/event-callbacks';

test.serial('10,000 events at once block nothing, and all arrive', async (t) => {
  const { plugin, read } = sensors();
  await using world = await bootWithEndpoints({ plugins: [plugin] });
  const { panel, add } = world;
  const { receiver, endpoint } = await add(undefined, ['sensors.*']);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  await read(100);
  await until(() => receiver.received.length === 100, 'the first ones arrive');
  delay.enable();
  const ms = await read(10_000);
  delay.disable();
  t.log(`10,000 events: ${Math.round(ms)} ms, longest block ${Math.round(delay.max / 1e6)} ms`);
  t.true(delay.max / 1e6 < 200, `the event loop was blocked for ${delay.max / 1e6} ms`);
  const { waiting } = await endpoint();
  // What could not be written within a second is summarised.
  t.true(waiting > 1_100);
  await until(() => receiver.received.length > 400, 'they arrive one after another');
  const ids = receiver.received.map(({ json }) => (json.data['sensor'] as Sensor).id).slice(100, 400);
  t.deepEqual(
    ids,
    Array.from({ length: 300 }, (_, i) => i),
  );
  t.deepEqual(panel.faults, []);
});

test.serial('an edit that no endpoint wants costs nearly nothing', async (t) => {
  const { plugin, read } = sensors();
  await using world = await bootWithEndpoints({ plugins: [plugin] });
  const { add } = world;
  const timed = async (): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < 200; i++) times.push(await read(1));
    // The quickest one: a busy machine slows down the others.
    return Math.min(...times);
  };
  await timed();
  const without = await timed();
  const { endpoint } = await add(undefined, ['group.*']);
  await world.panel.addClient('ann', [world.inbound]);
  const unwanted = await timed();
  // It fails and pauses, so nothing is sent meanwhile.
  const failing = await add(
    (_, reply) => void reply.writeHead(429, { 'retry-after': '600' }).end(),
    ['sensors.*'],
  );
  await read(1);
  await until(async () => (await failing.endpoint()).failures === 1, 'it pauses');
  const wanted = await timed();
  const edits: number[] = [];
  for (const url of ['sensors.*', 'client.*']) {
    await world.panel.get(`${PATH}/endpoints/${failing.id}`, { body: { events: [url] } });
    const began = performance.now();
    for (let i = 0; i < 100; i++)
      await world.panel.get('/panel/api/clients/update/ann', { body: { comment: `${url} ${i}` } });
    edits.push((performance.now() - began) / 100);
  }
  t.log(
    `an edit of a client: ${edits.map((ms) => ms.toFixed(2)).join(' ms, with an endpoint that wants it ')} ms`,
  );
  t.log(
    `a write: ${without.toFixed(3)} ms without an endpoint, ${unwanted.toFixed(3)} ms with one that does not want it, ${wanted.toFixed(3)} ms with one that does`,
  );
  t.is((await endpoint()).waiting, 0);
  t.true(unwanted < without * 1.5 + 0.2);
});

test.serial('a change that is refused has no event', async (t) => {
  const refusing = definePlugin({
    name: 'refusing',
    version: '1.0.0',
    api: 1,
    about: 'Refuses a client inside its write.',
    taps: () => [
      tap(
        duringClientSave,
        ({ changes }) => {
          if (changes.some(({ after }) => after?.email === 'eve')) throw new Refusal('not eve');
        },
        { stage: stage.LAST },
      ),
    ],
  });
  await using world = await bootWithEndpoints({ plugins: [refusing] });
  const { panel, inbound, add } = world;
  const { receiver, endpoint } = await add();
  const { status } = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'eve' }, inboundIds: [inbound] },
  });
  t.true(status >= 400);
  await panel.addClient('ann', [inbound]);
  await until(() => receiver.received.length === 1, 'the other one arrives');
  t.is(clientOf(receiver.received[0]?.json)['email'], 'ann');
  t.is((await endpoint()).waiting, 0);
});

test.serial('storage is bounded, and what was dropped is counted', async (t) => {
  const { plugin, read } = sensors();
  const clock = new FakeClock(Date.now());
  await using world = await bootWithEndpoints({ plugins: [plugin], clock });
  const { panel, add } = world;
  const broken = await add((_, reply) => void reply.destroy(), ['sensors.*']);
  const other = await add((_, reply) => void reply.destroy(), ['client.*']);
  await panel.get('/panel/api/setting/update', { body: { eventCallbackMostEvents: 1_000 } });
  await read(2_600);
  await until(async () => (await broken.endpoint()).failures === 1, 'it fails');
  clock.tick(61_000);
  await until(async () => (await broken.endpoint()).dropped === 1_600, 'the oldest are dropped');
  t.is((await broken.endpoint()).waiting, 1_000);
  t.is((await other.endpoint()).dropped, 0);
  t.true(panel.log.some((line) => line.includes('events were removed before an endpoint got them')));
  clock.leap(8 * 86_400_000);
  await until(async () => {
    clock.tick(61_000);
    await panel.login();
    return (await broken.endpoint()).waiting === 0;
  }, 'old ones are dropped');
  t.is((await broken.endpoint()).dropped, 2_600);
  await panel.get(`${PATH}/endpoints/${broken.id}/del`, { method: 'POST' });
  clock.tick(61_000);
  t.is((await panel.get<EndpointReply[]>(`${PATH}/endpoints`)).length, 1);
});

test.serial('no field of a client that opens something is in an event', async (t) => {
  await using world = await bootWithEndpoints();
  const { panel, inbound, add } = world;
  const { receiver } = await add();
  await panel.addClient('ann', [inbound]);
  await panel.get('/panel/api/clients/update/ann', {
    body: { password: 'a-new-password', subId: 'a-new-sub' },
  });
  await until(() => receiver.received.length === 2, 'both arrive');
  const client = await panel.get<{ client: ClientRow }>('/panel/api/clients/get/ann');
  const texts = receiver.received.map(({ body }) => body).join();
  const { uuid, password, subId, auth } = { ...client, ...client.client } as unknown as Record<
    string,
    string
  >;
  for (const secret of [uuid, password, subId, auth, 'a-new-password', 'a-new-sub'])
    if (secret) t.false(texts.includes(secret), secret);
  t.deepEqual(receiver.received[1]?.json.data['changed'], ['subId', 'password']);
});
