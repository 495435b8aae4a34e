// Runs on every database in test:full.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { askedPause, pauseAfter } from '../deliveries/delivery.js';
import { channel, deliveriesOf, heardBy, linesOf } from './channels.js';

const HOUR = 3_600_000;
const never = new Promise<never>(() => undefined);
const failure = (message: string, members: object = {}) => Object.assign(new Error(message), members);

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}
const redeliver = (panel: TestPanel, id: number) =>
  panel.call(`/panel/api/x/notifications/deliveries/${id}/redeliver`, { method: 'POST' });

test('pauses grow up to an hour, with jitter, and a receiver decides only within reason', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 5].map((attempts) => pauseAfter(attempts, 0.5)),
    [1_000, 4_000, 16_000, 64_000, 256_000],
  );
  t.deepEqual([pauseAfter(1, 0), pauseAfter(1, 1)], [750, 1_250]);
  t.is(pauseAfter(1_000, 0.5), HOUR);
  t.is(askedPause({ retryAfterMs: 5_000 }), 5_000);
  t.is(askedPause({ retryAfterMs: 1e15 }), 6 * HOUR);
  for (const odd of [
    undefined,
    null,
    7,
    { retryAfterMs: '9' },
    { retryAfterMs: -1 },
    { retryAfterMs: Number.NaN },
  ])
    t.is(askedPause(odd), undefined);
});

test('what failed is tried again after growing pauses, the same as before, and the log has it', async (t) => {
  const clock = new FakeClock();
  const engine = new FakeEngine();
  let left = 2;
  const heard: string[] = [];
  const failing = channel('failing', {
    send: async ({ id }) => {
      heard.push(id);
      if (left-- > 0) throw new Error('no \u0000route');
    },
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [failing],
    clock,
  });
  engine.enter('stop');
  await until(() => heard.length === 1, 'the first attempt');
  await until(async () => (await deliveriesOf(panel))[0]?.attempts === 1, 'it is in the log');
  t.like((await deliveriesOf(panel))[0], {
    state: 'waiting',
    problem: 'no  route',
    event: 'coreStateChanged',
  });
  clock.tick(500);
  await panel.kernel.settled();
  t.is(heard.length, 1);
  clock.tick(1_500);
  await until(() => heard.length === 2, 'the second one');
  clock.tick(2_000);
  await panel.kernel.settled();
  t.is(heard.length, 2, 'the next pause is longer');
  clock.tick(4_000);
  await until(() => heard.length === 3, 'the third one');
  t.is(new Set(heard).size, 1);
  await until(async () => (await deliveriesOf(panel))[0]?.state === 'delivered', 'it is delivered');
  t.like((await deliveriesOf(panel))[0], { attempts: 3, problem: '' });
});

test('a receiver that asks for time gets it over the whole channel; a permanent failure is final', async (t) => {
  const clock = new FakeClock();
  const engine = new FakeEngine();
  let answer: Error | undefined = failure('too many requests', { retryAfterMs: 60_000 });
  let attempts = 0;
  const limited = channel('limited', {
    send: async () => {
      attempts++;
      if (answer) throw answer;
    },
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [limited],
    clock,
  });
  engine.enter('stop');
  await until(() => attempts === 1, 'the first attempt');
  engine.enter('running');
  for (let i = 0; i < 5; i++) {
    clock.tick(10_000);
    await panel.kernel.settled();
  }
  t.is(attempts, 1, 'the other one waits as well');
  const states = await panel.get<
    { channel: string; waiting: number; pausedUntil: number; problem: string }[]
  >('/panel/api/x/notifications/channels');
  const state = states.find(({ channel: name }) => name === 'limited');
  t.like(state, { waiting: 2, problem: 'too many requests' });
  t.true((state?.pausedUntil ?? 0) > clock.now());
  answer = undefined;
  clock.tick(11_000);
  await until(() => attempts === 3, 'both are sent');
  answer = failure('bad token', { isPermanent: true });
  engine.enter('stop');
  await until(async () => (await deliveriesOf(panel, '?state=failed')).length === 1, 'it failed');
  clock.tick(HOUR);
  await panel.kernel.settled();
  t.is(attempts, 4);
  t.like((await deliveriesOf(panel, '?state=failed'))[0], { attempts: 1, problem: 'bad token' });
});

test('a delivery is given up after a day, and can be sent again by hand', async (t) => {
  const clock = new FakeClock();
  const engine = new FakeEngine();
  let isDead = true;
  const heard: string[] = [];
  const dead = channel('dead', {
    send: async ({ id, text }) => {
      if (isDead) throw new Error('unreachable');
      heard.push(`${id} ${text}`);
    },
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [dead],
    clock,
  });
  engine.enter('stop');
  const failed = async () => (await deliveriesOf(panel, '?state=failed'))[0];
  for (let hours = 0; hours < 26 && !(await failed()); hours++) {
    clock.leap(HOUR);
    await panel.kernel.settled();
  }
  const delivery = await failed();
  t.regex(delivery?.problem ?? '', /^unreachable \(given up after a day\)$/);
  t.true((delivery?.attempts ?? 0) > 5 && (delivery?.attempts ?? 0) < 40, `${delivery?.attempts} attempts`);
  isDead = false;
  t.is((await redeliver(panel, delivery?.id ?? 0)).status, 200);
  clock.tick(60_000);
  await until(() => heard.length === 1, 'it is sent');
  t.deepEqual(heard, [`${delivery?.notificationId} The core is stopped.`]);
  const now = async () => (await deliveriesOf(panel)).filter(({ id }) => id === delivery?.id);
  await until(async () => (await now())[0]?.state === 'delivered', 'the log follows');
  const changes = await panel.get<{ area: string; name: string; subject: string; who: string }[]>(
    '/panel/api/x/audit/changes?area=notification',
  );
  t.like(changes[0], { name: 'redeliver', subject: String(delivery?.id), who: 'admin' });
  t.is((await redeliver(panel, 999_999)).status, 404);
  t.is((await redeliver(panel, 0)).status, 400);
});

test('what waits is not queued twice, and nothing is redelivered over a channel that is off', async (t) => {
  const engine = new FakeEngine();
  let isOn = true;
  let release = (): void => undefined;
  const slow = channel('slow', {
    isOn: () => isOn,
    send: () => new Promise<void>((resolve) => void (release = resolve)),
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [slow],
  });
  engine.enter('stop');
  await until(async () => (await deliveriesOf(panel)).length === 1, 'it is in the log');
  const [delivery] = await deliveriesOf(panel);
  t.is((await redeliver(panel, delivery?.id ?? 0)).status, 409);
  release();
  await until(async () => (await deliveriesOf(panel))[0]?.state === 'delivered', 'it is delivered');
  isOn = false;
  const answer = await redeliver(panel, delivery?.id ?? 0);
  t.is(answer.status, 409);
  t.regex(answer.body.msg, /channel of this delivery is off/);
});

test('what was not delivered when the panel stopped is sent after the next start', async (t) => {
  const dataDirectory = await folder(t);
  const engine = new FakeEngine();
  const hanging = channel('post', { send: () => never });
  const first = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [hanging],
    dataDirectory,
  });
  engine.enter('stop');
  await until(async () => (await deliveriesOf(first)).length === 1, 'it is stored');
  engine.enter('running');
  await first.stop();
  const { plugin, texts, heard } = heardBy('post');
  await using second = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [plugin],
    dataDirectory,
  });
  await until(() => heard.length >= 2, 'both are sent');
  t.deepEqual(texts().slice(0, 2), ['The core is stopped.', 'The core is running.']);
  await until(async () => (await deliveriesOf(second, '?state=waiting')).length === 0, 'the log follows');
});

test('the list is filtered and paged', async (t) => {
  const engine = new FakeEngine();
  const { plugin, heard } = heardBy();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [plugin],
    clock,
  });
  for (let i = 0; i < 6; i++) {
    engine.enter(i % 2 ? 'running' : 'stop');
    await panel.kernel.settled();
    clock.tick(10_000);
    await until(() => heard.length === i + 1, 'it is sent');
  }
  const all = await deliveriesOf(panel);
  t.deepEqual(
    all.map(({ id }) => id),
    [6, 5, 4, 3, 2, 1],
  );
  t.deepEqual(
    (await deliveriesOf(panel, '?limit=2&before=5')).map(({ id }) => id),
    [4, 3],
  );
  t.is((await deliveriesOf(panel, '?event=loginBlocked')).length, 0);
  t.is((await deliveriesOf(panel, '?channel=listening&severity=info')).length, 6);
  for (const wrong of ['state=lost', 'limit=0', 'limit=999', 'before=x', `event=${'x'.repeat(65)}`])
    t.is((await panel.call(`/panel/api/x/notifications/deliveries?${wrong}`)).status, 400, wrong);
});

test('the log keeps as much as the settings say, and all that waits', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const { plugin, heard } = heardBy();
  const hanging = channel('hanging', { send: async () => Promise.reject(new Error('no')) });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [plugin, hanging],
    clock,
  });
  engine.enter('stop');
  await until(() => heard.length === 1, 'it is sent');
  await until(async () => (await deliveriesOf(panel)).length === 2, 'both are in the log');
  await panel.get('/panel/api/setting/update', { body: { notificationLogDays: 1 } });
  clock.jump(23 * HOUR);
  clock.tick(HOUR / 2);
  await panel.kernel.settled();
  clock.jump(25 * HOUR);
  clock.tick(HOUR);
  await panel.login();
  await until(
    async () => (await deliveriesOf(panel)).every(({ channel: name }) => name === 'hanging'),
    'the old one is removed',
  );
  t.is((await panel.call('/panel/api/setting/update', { body: { notificationLogMost: 5 } })).status, 400);
});

test('junk of a channel is named as its fault, and harms nobody', async (t) => {
  const engine = new FakeEngine();
  const sound = heardBy('sound');
  const junk = channel('junk', { send: (async () => ({ ok: false })) as never });
  const throwing = channel('throwing', {
    isOn: () => {
      throw new Error('weeds');
    },
  });
  const odd = channel('odd', {
    send: async () => {
      const trap = new Proxy(
        {},
        {
          get: () => {
            throw new Error('a member that throws');
          },
        },
      );
      return Promise.reject(trap as Error);
    },
  });
  const sync = channel('sync', {
    send: () => {
      throw failure('x'.repeat(70_000), { retryAfterMs: Number.POSITIVE_INFINITY });
    },
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [junk, throwing, odd, sync, sound.plugin],
  });
  engine.enter('stop');
  await until(() => sound.heard.length === 1, 'the sound one hears');
  await until(async () => (await deliveriesOf(panel, '?state=waiting')).length === 2, 'two failed');
  const failed = await deliveriesOf(panel, '?state=waiting');
  t.deepEqual(failed.map(({ channel: name }) => name).sort(), ['odd', 'sync']);
  t.is(failed.find(({ channel: name }) => name === 'odd')?.problem, 'no reason given');
  t.is(failed.find(({ channel: name }) => name === 'sync')?.problem.length, 500);
  const faults = linesOf(panel).filter(({ msg }) => msg === 'plugin fault');
  t.deepEqual([...new Set(faults.map(({ plugin, where }) => `${String(plugin)}: ${String(where)}`))].sort(), [
    'junk: send of the channel junk',
    'throwing: isOn of the channel throwing',
  ]);
  t.is(panel.kernel.plugins().find(({ name }) => name === 'notifications')?.state, 'running');
});
