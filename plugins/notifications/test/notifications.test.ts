import test from 'ava';
import { definePlugin, contribute, type Hooks, type Plugin } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/api.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { outboundDown, outboundUp } from '../../outbounds/contract.js';
import { type Channel, Channels, type Notification } from '../contract.js';

const never = new Promise<never>(() => undefined);
const channel = (name: string, part: Partial<Channel> = {}): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(Channels, { name, isOn: () => true, send: async () => undefined, ...part }),
    ],
  });

/** One that keeps what it is sent. */
function listening(name = 'listening'): { plugin: Plugin; heard: Notification[]; texts: () => string[] } {
  const heard: Notification[] = [];
  return {
    plugin: channel(name, { send: async (notification) => void heard.push(notification) }),
    heard,
    texts: () => heard.map(({ text }) => text),
  };
}
const linesOf = (panel: TestPanel): Record<string, unknown>[] =>
  panel.log.map((line) => JSON.parse(line) as Record<string, unknown>);

test('a channel that throws, hangs or floods holds up no other, nor the panel; and is named', async (t) => {
  const engine = new FakeEngine();
  const { plugin, heard } = listening();
  const hanging = channel('hanging', { send: () => never });
  const throwing = channel('throwing', {
    isOn: () => {
      throw new Error('weeds');
    },
  });
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [hanging, throwing, plugin],
  });
  for (const so of [80, 160]) {
    for (let i = 0; i < 80; i++) engine.enter(i % 2 ? 'running' : 'stop');
    await panel.kernel.settled();
    await until(() => heard.length === so, 'the sound one has heard all');
  }
  t.is(new Set(heard.map(({ id }) => id)).size, 160);
  t.like(
    linesOf(panel).find(({ msg }) => msg === 'the queue of a channel is full; dropping notifications'),
    { channel: 'hanging', of: 'hanging' },
  );
  const faults = linesOf(panel).filter(({ msg }) => msg === 'plugin fault');
  t.deepEqual(
    [...new Set(faults.map(({ plugin: name, where }) => `${String(name)}: ${String(where)}`))],
    ['throwing: isOn of the channel throwing'],
  );
  t.is(panel.kernel.plugins().find(({ name }) => name === 'notifications')?.state, 'running');
});

test('what cannot be delivered is named, and the next one is sent', async (t) => {
  const engine = new FakeEngine();
  let left = 1;
  const heard: string[] = [];
  const failing = channel('failing', {
    send: async ({ data }, signal) => {
      t.false(signal.aborted);
      if (left-- > 0) throw new Error('no route');
      heard.push(String(data['to']));
    },
  });
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [failing] });
  engine.enter('stop');
  engine.enter('running');
  await until(() => heard.length === 2, 'both are sent, the first at its second attempt');
  t.deepEqual(heard, ['stop', 'running']);
  left = 1;
  t.deepEqual(await panel.get('/panel/api/notifications/test', { method: 'POST' }), [
    { channel: 'failing', plugin: 'failing', delivered: false, reason: 'no route' },
  ]);
});

test('reports a blocked address once, and only the chosen events', async (t) => {
  const engine = new FakeEngine();
  const { plugin, texts } = listening();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [plugin] });
  t.true(
    (await panel.call('/panel/api/setting/update', { body: { notificationEvents: ['loginBlocked'] } })).body
      .success,
  );
  engine.enter('stop');
  const guess = async () =>
    (await panel.call('/login', { body: { ...ADMIN, username: 'eve', password: 'guess' }, anonymous: true }))
      .status;
  const answers = await Promise.all(Array.from({ length: 9 }, guess));
  t.true(answers.filter((status) => status === 429).length > 1);
  await panel.kernel.settled();
  await until(() => texts().length > 0, 'it is told');
  t.deepEqual(texts(), [
    'logins from 127.0.0.1 are blocked for a while after too many failed attempts, the last as "eve"',
  ]);
  t.is(
    (await panel.call('/panel/api/setting/update', { body: { notificationEvents: ['weather'] } })).status,
    400,
  );
});

test('many clients at once are one notification, with some of their names and all of their data', async (t) => {
  const engine = new FakeEngine();
  const { plugin, heard } = listening();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [plugin], clock });
  const inbound = await panel.addInbound();
  for (let i = 0; i < 7; i++)
    engine.move(inbound, (await panel.addClient(`c${i}`, [inbound], { totalGB: 100 })).id, 0, 200);
  clock.tick(5_000);
  await until(() => heard.length > 0, 'the poll finds them');
  t.is(
    heard[0]?.text,
    'reached a limit and were disabled: c0 (quota), c1 (quota), c2 (quota), c3 (quota), c4 (quota), 2 more',
  );
  t.is((heard[0]?.data['clients'] as unknown[] | undefined)?.length, 7);
});

test('outbounds that go down and work again are told, all of a batch at once', async (t) => {
  const { plugin, heard } = listening();
  let hooks: Pick<Hooks, 'emit'> | undefined;
  const tester = definePlugin({
    name: 'outbounds',
    version: '1.0.0',
    api: 1,
    about: 'In place of the real one.',
    hooks: [outboundDown, outboundUp],
    start: (scope) => void (hooks = scope.hooks),
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, tester],
    outside: [plugin],
  });
  const outbounds = Array.from({ length: 7 }, (_, at) => ({
    tag: `exit-${at}`,
    failures: 3,
    error: at === 0 ? 'refused' : 'x'.repeat(1_000),
  }));
  hooks?.emit(outboundDown, { outbounds });
  hooks?.emit(outboundUp, { outbounds: [{ tag: 'exit-0', delay: 42 }] });
  await panel.kernel.settled();
  await until(() => heard.length === 2, 'both are sent');
  const [down, up] = heard;
  t.regex(down?.text ?? '', /^outbounds are down: exit-0 \(refused\), exit-1 \(x{200}\), .*, 2 more$/);
  t.like(down, { event: 'outboundDown', data: { outbounds } });
  t.like(up, {
    event: 'outboundUp',
    text: 'outbounds work again: exit-0 (42 ms)',
    data: { outbounds: [{ tag: 'exit-0', delay: 42 }] },
  });
  await panel.get('/panel/api/setting/update', { body: { notificationEvents: ['outboundDown'] } });
  hooks?.emit(outboundUp, { outbounds: [{ tag: 'exit-1', delay: 1 }] });
  hooks?.emit(outboundDown, { outbounds: [{ tag: 'exit-1', failures: 1, error: 'late' }] });
  await until(() => heard.length > 2, 'the chosen one is sent');
  t.is(heard[2]?.text, 'outbounds are down: exit-1 (late)');
});

test('runs without the plugin that tests outbounds', async (t) => {
  const { plugin, heard } = listening();
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [plugin],
    without: ['outbounds'],
  });
  engine.enter('stop');
  await until(() => heard.length === 1, 'other events are sent');
  t.deepEqual(panel.faults, []);
});

test('a third-party channel has the name of its plugin', async (t) => {
  const { message = '' } =
    (await t.throwsAsync(
      TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [channel('bell', { name: 'horn' })] }),
    )) ?? {};
  t.regex(
    message,
    /^plugin bell cannot add to notifications\/Channels: the channel horn must be called bell or bell\.…/,
  );
});
