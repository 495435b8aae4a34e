import test from 'ava';
import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { Channels } from '@weir-panel/weir/plugins/notifications';
import { FakeClock, FakeEngine, TestPanel, until } from '@weir-panel/weir/testing';
import german from '../index.js';

test('a channel whose language is German gets German texts, and English where there is none', async (t) => {
  const texts: string[] = [];
  const bell = definePlugin({
    name: 'bell',
    version: '1.0.0',
    api: 1,
    about: 'A channel.',
    contributes: () => [
      contribute(Channels, {
        name: 'bell',
        isOn: () => true,
        language: () => 'de-AT',
        events: () => ['default', 'loginFailed'],
        send: async ({ text }) => void texts.push(text),
      }),
    ],
  });
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [german, bell],
    clock,
  });
  await panel.get('/panel/api/notifications/test', { method: 'POST' });
  t.deepEqual(texts.splice(0), ['Das ist ein Test.']);
  const inbound = await panel.addInbound();
  for (let i = 0; i < 7; i++)
    engine.move(inbound, (await panel.addClient(`c${i}`, [inbound], { totalGB: 100 })).id, 0, 200);
  clock.tick(5_000);
  await until(() => texts.length === 1, 'the poll finds them');
  t.is(
    texts[0],
    '7 Kunden haben ihr Limit erreicht und sind gesperrt: c0 (Volumen), c1 (Volumen), c2 (Volumen), c3 (Volumen), c4 (Volumen) und 2 weitere.',
  );
  await panel.call('/login', { body: { username: 'eve', password: 'guess' }, anonymous: true });
  await until(() => texts.length === 2, 'it is told');
  t.regex(texts[1] ?? '', /^A login as “eve” from 127\.0\.0\.1 failed/);
  t.deepEqual(panel.faults, []);
});
