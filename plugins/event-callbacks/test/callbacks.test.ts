// Runs on every database in test:full.
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import type { Delivery } from '../delivery-log.js';
import type { EndpointReply } from '../fields.js';
import { clientOf, isSigned, Receiver } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';
const at = Date.UTC(2026, 0, 15, 12);

async function boot(events: readonly string[] = ['*'], clock = new FakeClock(at)) {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const receiver = await Receiver.start();
  const add = (body: object = {}) =>
    panel.get<{ id: string; secret: string }>(`${PATH}/endpoints`, {
      body: { url: receiver.url, events, allowPrivate: true, ...body },
    });
  const { id, secret } = await add();
  const endpoint = (of = id) => panel.get<EndpointReply>(`${PATH}/endpoints/${of}`);
  const deliveries = (query = '') => panel.get<Delivery[]>(`${PATH}/deliveries${query}`);
  const world = { engine, panel, clock, receiver, add, id, secret, endpoint, deliveries };
  return {
    ...world,
    async [Symbol.asyncDispose]() {
      await panel[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}
type World = Awaited<ReturnType<typeof boot>>;
const got = ({ receiver }: World, count: number) =>
  until(() => receiver.received.length >= count, `${count} events arrive`);

test('changes arrive in their order, signed, without credentials', async (t) => {
  await using world = await boot(['client.*', 'inbound.*']);
  const { panel, receiver, secret, endpoint, deliveries } = world;
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  await panel.get('/panel/api/clients/update/ann', { body: { totalGB: 5_000, comment: 'hello' } });
  await panel.get('/panel/api/clients/del/ann', { method: 'POST' });
  await got(world, 4);
  t.deepEqual(receiver.types(), ['inbound.created', 'client.created', 'client.updated', 'client.deleted']);
  for (const received of receiver.received) {
    t.true(isSigned(received, secret));
    t.is(received.json.timestamp, new Date(at).toISOString());
  }
  const { data } = receiver.received[2]?.json ?? {};
  t.deepEqual(data?.['changed'], ['totalGB', 'comment']);
  t.deepEqual(data?.['previous'], { totalGB: 0, comment: '' });
  t.is(clientOf(receiver.received[2]?.json)['totalGB'], 5_000);
  t.deepEqual(data?.['by'], { kind: 'session', name: 'admin' });
  const { uuid, password, subId } = clientOf(receiver.received[1]?.json);
  t.deepEqual([uuid, password, subId], [undefined, undefined, undefined]);
  t.is(new Set(receiver.received.map(({ id }) => id)).size, 4);

  const log = await deliveries();
  t.deepEqual(
    log.map(({ type, state, status, attempts }) => [type, state, status, attempts]),
    ['client.deleted', 'client.updated', 'client.created', 'inbound.created'].map((type) => [
      type,
      'delivered',
      204,
      1,
    ]),
  );
  t.deepEqual(
    (await deliveries('?type=client.updated')).map(({ webhookId }) => webhookId),
    [receiver.received[2]?.id],
  );
  const { waiting, failures, lastDeliveredAt } = await endpoint();
  t.deepEqual([waiting, failures, lastDeliveredAt], [0, 0, at]);
});

test('a limit that cuts arrives', async (t) => {
  await using world = await boot(['client.depleted']);
  const { panel, engine, clock, receiver } = world;
  const inbound = await panel.addInbound();
  const ann = await panel.addClient('ann', [inbound], { totalGB: 100 });
  engine.move(inbound, ann.id, 0, 200);
  clock.tick(5_000);
  await got(world, 1);
  const [{ json } = { json: undefined }] = receiver.received;
  t.is(json?.data['cause'], 'quota');
  t.is(clientOf(json)['email'], 'ann');
});

test('what fails is repeated with pauses, by the same id, and in order', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, clock, receiver, endpoint, deliveries } = world;
  receiver.reply = (_, reply) => void reply.writeHead(500).end('no');
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  await got(world, 1);
  await panel.addClient('bob', [inbound]);
  await until(async () => (await endpoint()).failures === 1, 'the failure is noted');
  const { pausedUntil, lastError, waiting } = await endpoint();
  t.deepEqual([pausedUntil, lastError, waiting], [at + 5_000, 'the endpoint answered 500', 2]);
  clock.tick(4_000);
  t.is(receiver.received.length, 1, 'the pause is not over');
  clock.tick(2_000);
  await got(world, 2);
  await until(async () => (await endpoint()).failures === 2, 'the second failure is noted');
  receiver.reply = (_, reply) => void reply.writeHead(200).end();
  clock.tick(31_000);
  await got(world, 4);
  const emails = receiver.received.map(({ json }) => clientOf(json)['email']);
  t.deepEqual(emails, ['ann', 'ann', 'ann', 'bob']);
  t.is(new Set(receiver.received.slice(0, 3).map(({ id }) => id)).size, 1);
  await until(async () => (await endpoint()).waiting === 0, 'nothing waits');
  t.deepEqual(
    (await deliveries()).map(({ attempts, state }) => [attempts, state]),
    [
      [1, 'delivered'],
      [3, 'delivered'],
    ],
  );
});

test('an event that an endpoint refuses is overtaken by later ones, and given up at last', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, clock, receiver, deliveries } = world;
  receiver.reply = ({ json }, reply) =>
    void reply.writeHead(clientOf(json)['email'] === 'ann' ? 400 : 204).end();
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  await panel.addClient('bob', [inbound]);
  const stateOf = async (email: string) => {
    const id = receiver.received.find(({ json }) => clientOf(json)['email'] === email)?.id;
    return (await deliveries()).find(({ webhookId }) => webhookId === id);
  };
  for (let i = 0; (await stateOf('bob'))?.state !== 'delivered' && i < 50; i++) {
    clock.tick(30_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.is((await stateOf('bob'))?.state, 'delivered');
  t.is((await stateOf('ann'))?.state, 'waiting');
  for (let i = 0; (await stateOf('ann'))?.state !== 'failed' && i < 100; i++) {
    clock.leap(6 * 3_600_000);
    await panel.login();
    await panel.get('/panel/api/clients/update/bob', { body: { comment: String(i) } });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.is((await stateOf('ann'))?.state, 'failed');
  t.is((await stateOf('ann'))?.attempts, 15);
});

test('an endpoint that fails for days is disabled, with a notice; enabled, it gets what waited', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, clock, receiver, endpoint, id } = world;
  receiver.reply = (_, reply) => void reply.destroy();
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  for (let i = 0; (await endpoint()).enable && i < 60; i++) {
    clock.leap(6 * 3_600_000);
    await panel.login();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  const { enable, disabledReason, waiting } = await endpoint();
  t.false(enable);
  t.regex(disabledReason, /every attempt of 5 days failed/);
  t.is(waiting, 1);
  await until(async () => {
    clock.tick(10_000);
    const alarms = await panel.get<{ name: string; text: string }[]>('/panel/api/x/alarms');
    return alarms.some(({ name, text }) => name === 'callbacks' && text.includes('disabled'));
  }, 'an alarm is raised');
  await panel.addClient('bob', [inbound]);
  receiver.received.length = 0;
  receiver.reply = (_, reply) => void reply.writeHead(204).end();
  await panel.get(`${PATH}/endpoints/${id}`, { body: { enable: true } });
  await got(world, 2);
  t.deepEqual(
    receiver.received.map(({ json }) => clientOf(json)['email']),
    ['ann', 'bob'],
  );
});

test('after a rotation both secrets sign until the overlap is over', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, clock, receiver, id, secret } = world;
  const inbound = await panel.addInbound();
  const rotated = await panel.get<{ secret: string; previousSecretUntil: number }>(
    `${PATH}/endpoints/${id}/rotate`,
    { body: { overlapHours: 2 } },
  );
  t.is(rotated.previousSecretUntil, at + 2 * 3_600_000);
  await panel.addClient('ann', [inbound]);
  await got(world, 1);
  clock.tick(2 * 3_600_000);
  await panel.addClient('bob', [inbound]);
  await got(world, 2);
  const signs = receiver.received.map((received) => [
    isSigned(received, rotated.secret),
    isSigned(received, secret),
  ]);
  t.deepEqual(signs, [
    [true, true],
    [true, false],
  ]);
  t.false(JSON.stringify(await panel.get(`${PATH}/endpoints`)).includes('whsec_'));
});

test('one delivery, or a span of time, is sent again', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, clock, receiver, deliveries, id } = world;
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound]);
  clock.tick(60_000);
  await panel.addClient('bob', [inbound]);
  await got(world, 2);
  const [bob] = await deliveries();
  await panel.get(`${PATH}/deliveries/${bob?.id}/redeliver`, { method: 'POST' });
  await got(world, 3);
  t.is(receiver.received[2]?.id, receiver.received[1]?.id);
  await until(async () => (await deliveries('?state=delivered')).length === 2, 'it is delivered again');

  const span = (body: object) =>
    panel
      .call(`${PATH}/endpoints/${id}/redeliver`, { body })
      .then(({ text }) => /(\d+) events/.exec(text)?.[1]);
  t.is(await span({ from: at }), '0', 'all are delivered');
  t.is(await span({ from: at, to: at + 1_000, onlyFailed: false }), '1');
  await got(world, 4);
  t.is(receiver.received[3]?.id, receiver.received[0]?.id);
  t.is(await span({ from: at, onlyFailed: false }), '2');
  await got(world, 6);
  t.deepEqual(
    receiver.received.slice(4).map(({ json }) => clientOf(json)['email']),
    ['ann', 'bob'],
  );
});

test('a ping is sent at once and says what came of it', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, receiver, id, secret } = world;
  const ping = () => panel.get<object>(`${PATH}/endpoints/${id}/ping`, { method: 'POST' });
  t.like(await ping(), { delivered: true, status: 204, error: '' });
  t.deepEqual(receiver.types(), ['ping']);
  t.true(receiver.received[0] && isSigned(receiver.received[0], secret));
  receiver.reply = (_, reply) => void reply.writeHead(302, { location: '/elsewhere' }).end();
  const redirected = (await ping()) as { delivered: boolean; status: number; error: string };
  t.like(redirected, { delivered: false, status: 302 });
  t.regex(redirected.error, /redirects are not followed/);
  t.is(receiver.received.length, 2, 'the redirect is not followed');
});

test('refuses what is wrong by its field, and changes nothing', async (t) => {
  await using world = await boot();
  const { panel, add, id } = world;
  const refused = async (body: object, path = `${PATH}/endpoints`) => {
    const { status, text } = await panel.call(path, { body });
    t.is(status, 400, text);
    return text;
  };
  t.regex(await refused({ url: 'ftp://a.example', events: ['*'] }), /url: it must be a URL that begins/);
  t.regex(await refused({ url: 'https://u:p@a.example', events: ['*'] }), /no user name/);
  t.regex(await refused({ url: 'https://a.example', events: [] }), /events/);
  t.regex(await refused({ url: 'https://a.example', events: ['client.*', 'moon.*'] }), /events\[1\]/);
  t.regex(await refused({ events: ['moon.full'] }, `${PATH}/endpoints/${id}`), /moon\.full/);
  t.is((await panel.get<object[]>(`${PATH}/endpoints`)).length, 1);
  for (let i = 1; i < 20; i++) await add();
  t.is(
    (await panel.call(`${PATH}/endpoints`, { body: { url: 'https://a.example', events: ['*'] } })).status,
    409,
  );
  t.is((await panel.call(`${PATH}/endpoints/ep_none`)).status, 404);
});

test('a private address is refused without allowPrivate, and the own listener always', async (t) => {
  await using world = await boot(['client.*']);
  const { panel, receiver, add } = world;
  const { id } = await add({ allowPrivate: false });
  const ping = (of: string) =>
    panel.get<{ error: string }>(`${PATH}/endpoints/${of}/ping`, { method: 'POST' });
  t.regex((await ping(id)).error, /address of this machine/);
  const own = await add({ url: `${panel.url}/login` });
  t.regex((await ping(own.id)).error, /own listener/);
  t.is(receiver.received.length, 0);
});
