import test from 'ava';
import { contribute, definePlugin, event, type Hooks } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { notified, NotifiedEvents } from '../contract.js';
import { messenger } from './channels.js';

test('a quiet key holds for the admins and for each client apart, and not while nobody wants the event', async (t) => {
  const low = event<{ readonly ids: readonly number[] }>('meter/low');
  let hooks: Pick<Hooks, 'emit'> | undefined;
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
          describe: ({ ids }) => {
            const one = { args: {}, data: {}, quietKey: 'same' };
            const client = (id: number) => ({ ...one, client: { id, email: `c${id}`, messengerId: id } });
            return [one, ...ids.map(client)];
          },
          titles: { en: 'Low' },
          texts: { en: 'It is low.' },
        }),
      ),
    ],
    start: (scope) => void (hooks = scope.hooks),
  });
  let wanted: string[] = [];
  const chat = messenger('chat', { events: () => wanted });
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [new FakeEngine().plugin],
    outside: [meter, chat.plugin],
    clock,
  });
  const emit = async (...ids: number[]) => {
    hooks?.emit(low, { ids });
    await panel.kernel.settled();
  };
  await emit(1);
  await until(() => chat.clients.length === 1, 'the client hears');
  wanted = ['meter.low'];
  clock.tick(1_000);
  await panel.kernel.settled();
  await emit(1, 2);
  await until(() => chat.admins.length === 1 && chat.clients.length === 2, 'the admins and the other client');
  t.deepEqual(
    chat.clients.map(({ client }) => client.id),
    [1, 2],
  );
  await emit(1, 2);
  await emit(3);
  await until(() => chat.clients.length === 3, 'the third one');
  t.is(chat.admins.length, 1);
});
