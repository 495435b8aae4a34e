import test from 'ava';
import { ChannelCaller } from '../channels/channel-caller.js';
import { definePlugin, contribute, type Hooks, type Plugin } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/api.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { outboundDown, outboundUp } from '../../outbounds/contract.js';
import { channel, heardBy, linesOf } from './channels.js';

const never = new Promise<never>(() => undefined);
const test_ = '/panel/api/notifications/test';

test('reports a blocked address once, and only the chosen events', async (t) => {
  const engine = new FakeEngine();
  const { plugin, texts } = heardBy();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [plugin],
  });
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
    'Logins from 127.0.0.1 are blocked for a while after too many failed attempts, the last one as “eve”.',
  ]);
  const refused = await panel.call('/panel/api/setting/update', {
    body: { notificationEvents: ['weather'] },
  });
  t.is(refused.status, 400);
  t.regex(refused.body.msg, /^notificationEvents: no plugin has the event "weather"/);
});

test('a channel has its own list of events, with names of older panels, and its own language', async (t) => {
  const engine = new FakeEngine();
  let wanted: unknown = ['login.attempt', 'core.crash'];
  const old = heardBy('old', { events: () => wanted as string[], language: () => 'ru-RU' });
  const ours = heardBy('ours');
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [old.plugin, ours.plugin],
  });
  engine.enter('stop');
  await panel.call('/login', { body: { username: 'eve', password: 'guess' }, anonymous: true });
  await until(() => old.heard.length === 2 && ours.heard.length === 1, 'each hears what it wants');
  t.is(old.texts()[0], 'Пользователь «admin» вошёл с адреса 127.0.0.1.');
  t.regex(old.texts()[1] ?? '', /^Неудачная попытка входа под именем «eve» с адреса 127\.0\.0\.1/);
  t.like(old.heard[1], { event: 'loginFailed', severity: 'warning', title: 'Неудачный вход' });
  t.deepEqual(ours.texts(), ['The core is stopped.']);
  wanted = 'everything';
  await panel.kernel.settled();
  await panel.call('/panel/api/setting/update', { body: { notificationEvents: ['default', 'coreCrashed'] } });
  engine.enter('running');
  await until(() => old.heard.length === 3, 'an invalid list: the setting decides');
  t.is(old.texts()[2], 'Ядро работает.');
  t.regex(
    String(linesOf(panel).find(({ msg }) => msg === 'plugin fault')?.['where']),
    /events of the channel old/,
  );
  t.deepEqual(ours.texts().slice(1), ['The core is running.'], 'and not as a part of it once more');
});

test('many clients at once are one notification, with some of their names and all of their data', async (t) => {
  const engine = new FakeEngine();
  const { plugin, heard } = heardBy();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [plugin],
    clock,
    without: ['alarms', 'limit-warnings'],
  });
  const inbound = await panel.addInbound();
  for (let i = 0; i < 7; i++)
    engine.move(inbound, (await panel.addClient(`c${i}`, [inbound], { totalGB: 100 })).id, 0, 200);
  clock.tick(5_000);
  await until(() => heard.length > 0, 'the poll finds them');
  t.is(
    heard[0]?.text,
    '7 clients have reached their limits and are disabled: c0 (quota), c1 (quota), c2 (quota), c3 (quota), c4 (quota), and 2 more.',
  );
  t.is((heard[0]?.data['clients'] as unknown[] | undefined)?.length, 7);
});

test('outbounds that go down and work again are told, all of a batch at once', async (t) => {
  const { plugin, heard } = heardBy();
  let hooks: Pick<Hooks, 'emit'> | undefined;
  const { downOutbounds, upOutbounds } = await import('../../outbounds/notified.js');
  const { NotifiedEvents } = await import('../contract.js');
  const tester = definePlugin({
    name: 'outbounds',
    version: '1.0.0',
    api: 1,
    about: 'In place of the real one.',
    hooks: [outboundDown, outboundUp],
    contributes: () => [contribute(NotifiedEvents, downOutbounds), contribute(NotifiedEvents, upOutbounds)],
    start: (scope) => void (hooks = scope.hooks),
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
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
  const [down, up] = [...heard].sort((a, b) => (a.event < b.event ? -1 : 1));
  t.regex(
    down?.text ?? '',
    /^7 outbounds are down: exit-0 \(refused\), exit-1 \(x{199}…\), .*, and 2 more\.$/,
  );
  t.like(down, { event: 'outboundDown', data: { outbounds } });
  t.like(up, {
    event: 'outboundUp',
    text: 'An outbound works again: exit-0 (42 ms).',
    data: { outbounds: [{ tag: 'exit-0', delay: 42 }] },
  });
});

test('a test is in the language of each channel, and says what is wrong', async (t) => {
  const good = heardBy('good', { language: () => 'zh-CN' });
  const bad = channel('bad', {
    send: async () => Promise.reject(new Error('no route')),
    language: () => 'en',
  });
  const odd = heardBy('odd', { language: () => 7 as unknown as string });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [good.plugin, bad, odd.plugin],
  });
  t.deepEqual(await panel.get(test_, { method: 'POST' }), [
    { channel: 'bad', plugin: 'bad', delivered: false, reason: 'no route' },
    { channel: 'good', plugin: 'good', delivered: true, reason: '' },
    { channel: 'odd', plugin: 'odd', delivered: true, reason: '' },
  ]);
  t.deepEqual([...good.texts(), ...odd.texts()], ['这是一条测试消息。', 'This is a test.']);
});

test('runs without the plugins that declare events, and without the audit', async (t) => {
  const { plugin, heard } = heardBy();
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({
    plugins: [engine.plugin],
    outside: [plugin],
    without: ['outbounds', 'alarms', 'audit', 'backup', 'limit-warnings'],
  });
  await panel.get(test_, { method: 'POST' });
  t.is(heard.length, 1);
  t.deepEqual(panel.faults, []);
});

test('a third-party channel has the name of its plugin', async (t) => {
  const { message = '' } =
    (await t.throwsAsync(
      TestPanel.boot({
        without: ['alarms'],
        plugins: [new FakeEngine().plugin],
        outside: [channel('bell', { name: 'horn' })],
      }),
    )) ?? {};
  t.regex(
    message,
    /^plugin bell cannot add to notifications\/Channels: the channel horn must be called bell or bell\.…/,
  );
});

test('a channel that hangs at a test is given up after its time, and others are not delayed', async (t) => {
  const hanging: Plugin = channel('hanging', { send: () => never });
  const sound = heardBy('sound');
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [hanging, sound.plugin],
  });
  const results = panel.get<{ reason: string }[]>(test_, { method: 'POST' });
  await until(() => sound.heard.length === 1, 'the sound one hears at once');
  t.is((await results)[0]?.reason, 'the channel took longer than 10 s');
});

test('a channel may say how long an attempt takes, and not what it likes', async (t) => {
  const limitOf = async (attemptLimitMs: unknown): Promise<string> => {
    const { mock } = await import('node:test');
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const value = {
        name: 'slow',
        isOn: () => true,
        attemptLimitMs,
        send: () => new Promise(() => undefined),
      };
      const caller = new ChannelCaller(
        { plugin: 'slow', value, fault: () => undefined } as never,
        new AbortController().signal,
      );
      const attempt = caller.attempt({} as never).then(
        () => '',
        (error: Error) => error.message,
      );
      mock.timers.tick(60_000);
      return await attempt;
    } finally {
      mock.timers.reset();
    }
  };
  t.is(await limitOf(30_000), 'the channel took longer than 30 s');
  t.is(await limitOf(1e9), 'the channel took longer than 60 s');
  for (const junk of [undefined, 0, -1, Number.NaN, '5'])
    t.is(await limitOf(junk), 'the channel took longer than 10 s', String(junk));
});
