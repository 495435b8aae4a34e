// Routes that wait for the Bot API.
import { mock } from 'node:test';
import test from 'ava';
import { botRoutes } from '../routes.js';

test.serial(
  'the connection of an admin is held open while a backup is sent, and during the test',
  async (t) => {
    mock.timers.enable({ apis: ['setInterval'] });
    t.teardown(() => mock.timers.reset());
    const { signal } = new AbortController();
    let end: () => void = () => undefined;
    const sent = () => new Promise<void>((resolve) => (end = resolve));
    const session = { signal, api: { me: async () => undefined, send: sent } };
    const settings = { msgBotEnable: true, msgBotToken: 'x', msgBotChatId: '1', msgBotLang: 'en' };
    const routes = botRoutes({
      bot: { session, status: {} },
      reporter: { sendBackup: () => sent().then(() => 1) },
      settings: { read: () => settings },
    } as never);
    for (const name of ['msgBot.sendBackup', 'settings.testMsgBot']) {
      let calls = 0;
      const reply = { progressed: () => calls++ };
      const route = routes.find((one) => one.name === name);
      const done = route?.handle({ signal, reply, who: { kind: 'session', name: 'admin' } } as never);
      await new Promise((resolve) => setImmediate(resolve));
      mock.timers.tick(60_000);
      t.true(calls > 2, name);
      end();
      await done;
      const before = calls;
      mock.timers.tick(60_000);
      t.is(calls, before, 'no timer stays');
    }
  },
);
