// Runs on every database in test:full.
// Endpoints that hang, lie and send too much: each harms only itself.
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import type { EndpointReply } from '../fields.js';
import { bootWithEndpoints as boot } from './endpoint-world.js';
import { clientOf, Receiver } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';

test('the body of a reply is not read, however long or slow it is', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  let sent = 0;
  const large = await add((_, reply) => {
    reply.writeHead(200, { 'content-length': String(10 * 1024 * 1024 * 1024) });
    const part = Buffer.alloc(64 * 1024);
    const write = (): void => {
      while (!reply.destroyed && sent < 20 * 1024 * 1024) {
        sent += part.length;
        if (!reply.write(part)) return void reply.once('drain', write);
      }
    };
    write();
  });
  const bomb = await add((_, reply) => {
    reply.writeHead(200, { 'content-encoding': 'gzip' });
    reply.write(Buffer.alloc(1024 * 1024, 'not gzip'));
  });
  const slow = await add((_, reply) => {
    reply.writeHead(200);
    const timer = setInterval(() => reply.write('.'), 100);
    reply.on('close', () => clearInterval(timer));
  });
  const began = Date.now();
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound]);
  for (const { receiver, deliveries } of [bomb, slow]) {
    await until(() => receiver.received.length === 2, 'both arrive');
    await until(async () => (await deliveries()).every(({ state }) => state === 'delivered'), 'both count');
  }
  t.true(Date.now() - began < 5_000);
  await until(async () => (await large.deliveries()).length > 0, 'an answer is noted');
  t.true(sent < 10 * 1024 * 1024, `${sent} bytes were taken`);
  t.deepEqual(panel.faults, []);
});

test('redirects are not followed, not even to the panel itself', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const other = await add(undefined, ['inbound.*']);
  const moved = await add((_, reply) => void reply.writeHead(307, { location: other.receiver.url }).end());
  await panel.addClient('ann', [inbound]);
  await until(async () => (await moved.endpoint()).failures === 1, 'it fails');
  t.regex((await moved.endpoint()).lastError, /redirects \(307\); redirects are not followed/);
  t.is(other.receiver.received.length, 0);
  t.is((await moved.deliveries())[0]?.status, 307);
});

test('Retry-After is honoured, and bounded', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const polite = await add((_, reply) => void reply.writeHead(429, { 'retry-after': '600' }).end());
  const greedy = await add((_, reply) => void reply.writeHead(503, { 'retry-after': '999999999' }).end());
  const odd = await add((_, reply) => void reply.writeHead(503, { 'retry-after': 'soon\tish' }).end());
  await panel.addClient('ann', [inbound]);
  const pauseOf = async ({ endpoint }: typeof polite): Promise<number> => {
    await until(async () => (await endpoint()).failures === 1, 'it fails');
    return ((await endpoint()).pausedUntil - Date.now()) / 1_000;
  };
  const near = (seconds: number, wanted: number): boolean => seconds <= wanted && seconds > wanted - 30;
  t.true(near(await pauseOf(polite), 600));
  t.true(near(await pauseOf(greedy), 6 * 3_600));
  t.true(near(await pauseOf(odd), 5));
});

test('an endpoint that is gone is disabled at once', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const gone = await add((_, reply) => void reply.writeHead(410).end());
  await panel.addClient('ann', [inbound]);
  await until(async () => !(await gone.endpoint()).enable, 'it is disabled');
  t.regex((await gone.endpoint()).disabledReason, /410/);
  const body = { enable: true };
  const again = await panel.get<EndpointReply>(`${PATH}/endpoints/${gone.id}`, { body });
  t.is(again.disabledReason, '', 'an admin has enabled it');
  const changes = await panel.get<{ area: string; kind: string; whoKind: string }[]>(
    '/panel/api/x/audit/changes?limit=5',
  );
  t.true(
    changes.some(
      ({ area, kind, whoKind }) => area === 'eventCallback' && kind === 'updated' && whoKind === 'plugin',
    ),
  );
});

test('an endpoint with waiting events is deleted while an attempt hangs', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const hanging = await add(() => undefined);
  const good = await add();
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound]);
  await until(() => hanging.receiver.received.length === 1, 'an attempt hangs');
  await panel.get(`${PATH}/endpoints/${hanging.id}/del`, { method: 'POST' });
  t.is((await panel.call(`${PATH}/endpoints/${hanging.id}`)).status, 404);
  await panel.addClient('eve', [inbound]);
  await until(() => good.receiver.received.length === 3, 'the other goes on');
  await until(async () => (await good.deliveries()).length === 3, 'what came of them is written');
  t.is(hanging.receiver.received.length, 1);
  t.deepEqual(await panel.get(`${PATH}/deliveries?endpoint=${hanging.id}`), []);
  t.deepEqual(panel.faults, []);
});

test('another address gets at once what the previous one did not take', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const broken = await add((_, reply) => void reply.destroy());
  const spare = await Receiver.start();
  await panel.addClient('ann', [inbound]);
  await until(async () => (await broken.endpoint()).failures === 1, 'it fails');
  await panel.get(`${PATH}/endpoints/${broken.id}`, { body: { url: spare.url } });
  await until(() => spare.received.length === 1, 'it arrives elsewhere');
  t.is(clientOf(spare.received[0]?.json)['email'], 'ann');
  await spare[Symbol.asyncDispose]();
});

test('an admin can skip what waits', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const broken = await add((_, reply) => void reply.writeHead(500).end());
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound]);
  await until(async () => (await broken.endpoint()).waiting === 2, 'both wait');
  broken.receiver.reply = (_, reply) => void reply.writeHead(204).end();
  const body = { skipWaiting: true, enable: true };
  const { waiting } = await panel.get<EndpointReply>(`${PATH}/endpoints/${broken.id}`, { body });
  t.is(waiting, 0);
  await panel.addClient('eve', [inbound]);
  await until(() => broken.receiver.received.length >= 2, 'the next one arrives');
  t.is(clientOf(broken.receiver.received.at(-1)?.json)['email'], 'eve');
});

test('pings that hang take no place of deliveries', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const hanging = await add(() => undefined);
  const good = await add();
  const ping = () => panel.call(`${PATH}/endpoints/${hanging.id}/ping`, { method: 'POST' });
  const first = ping().catch(() => undefined);
  await until(() => hanging.receiver.received.length === 1, 'a ping hangs');
  const others = await Promise.all(Array.from({ length: 40 }, ping));
  t.deepEqual([...new Set(others.map(({ status }) => status))], [409]);
  await panel.addClient('ann', [inbound]);
  await until(() => good.receiver.received.length === 1, 'the delivery arrives');
  await hanging.receiver[Symbol.asyncDispose]();
  await first;
  t.is((await ping()).status, 200, 'the next ping may come');
});
