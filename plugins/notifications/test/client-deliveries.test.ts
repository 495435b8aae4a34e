// Runs on every database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { contribute, definePlugin, event, type Hooks } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { notified, NotifiedEvents } from '../contract.js';
import { channel, deliveriesOf, messenger } from './channels.js';

test('what waits for a client outlives a restart with its messenger id; without its channel it is dropped after a day', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const low = event('meter/low');
  let hooks: Pick<Hooks, 'emit'> | undefined;
  const client = { id: 7, email: 'ada', messengerId: 4242 };
  const meter = definePlugin({
    name: 'meter',
    version: '1.0.0',
    api: 1,
    about: 'Makes events.',
    hooks: [low],
    contributes: () => [
      contribute(
        NotifiedEvents,
        notified({
          name: 'meter.low',
          severity: 'info',
          isOnByDefault: true,
          hook: low,
          describe: () => [{ args: {}, data: {}, client }],
          titles: { en: 'Low' },
          texts: { en: 'It is low.' },
        }),
      ),
    ],
    start: (scope) => void (hooks = scope.hooks),
  });
  const failing = (name: string) =>
    channel(name, { sendToClient: async () => Promise.reject(new Error('no')) });
  const clock = new FakeClock();
  const boot = (...channels: ReturnType<typeof channel>[]) =>
    TestPanel.boot({
      without: ['alarms'],
      plugins: [new FakeEngine().plugin],
      outside: [meter, ...channels],
      dataDirectory,
      clock,
    });
  const first = await boot(failing('chat'), failing('gone'));
  await first.get('/panel/api/setting/update', { body: { notifyClients: false } });
  hooks?.emit(low, {} as never);
  await first.kernel.settled();
  t.deepEqual(await deliveriesOf(first), [], 'the setting is off');
  await first.get('/panel/api/setting/update', { body: { notifyClients: true } });
  hooks?.emit(low, {} as never);
  await until(async () => (await deliveriesOf(first)).length === 2, 'both are stored');
  await first.stop();
  const chat = messenger('chat');
  await using second = await boot(chat.plugin);
  clock.tick(1_000);
  await until(() => chat.clients.length === 1, 'it is sent');
  t.deepEqual(chat.clients[0]?.client, client);
  clock.jump(25 * 3_600_000);
  await second.login();
  await second.get('/panel/api/system/jobs/notifications/prune', { method: 'POST' });
  const left = await deliveriesOf(second, '?channel=gone');
  t.deepEqual(
    left.map(({ state, problem }) => `${state}: ${problem}`),
    ['dropped: the channel is not there any more'],
  );
});
