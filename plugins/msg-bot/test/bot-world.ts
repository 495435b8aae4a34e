// A whole panel with a bot that is connected to a stand-in for the Bot API.
import type { ExecutionContext } from 'ava';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel, type PanelOptions } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { BotServer, TOKEN } from './bot-server.js';

export const ADMIN_ID = 11;
export const STRANGER_ID = 666;

export interface BotWorld extends AsyncDisposable {
  readonly server: BotServer;
  readonly engine: FakeEngine;
  panel: TestPanel;
  set(settings: Record<string, unknown>): Promise<void>;
  status(): Promise<{ state: string; username: string; problem: string; byWebhook: boolean }>;
  /** Sends a text as this user, and resolves with the newest message that it gets. */
  say(user: number, text: string): Promise<string>;
  /** Presses the button of the newest message to this user whose data begins so. */
  press(user: number, data: string): Promise<string>;
  until(condition: () => boolean | Promise<boolean>, what: string): Promise<void>;
}

export const botSettings = (server: BotServer, more: Record<string, unknown> = {}) => ({
  msgBotEnable: true,
  msgBotToken: TOKEN,
  msgBotApiServer: server.url,
  msgBotChatId: String(ADMIN_ID),
  ...more,
});

export async function bootBot(
  t: ExecutionContext,
  settings: Record<string, unknown> = {},
  options: PanelOptions = {},
): Promise<BotWorld> {
  const server = await BotServer.start(t);
  for (const chat of [ADMIN_ID, STRANGER_ID]) server.chats.add(chat);
  const engine = new FakeEngine();
  const { plugins = [], env, ...others } = options;
  const panel = await TestPanel.boot({
    plugins: [engine.plugin, ...plugins],
    env: { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1', WEIR_PUBLIC_HOST: 'panel.example.com', ...env },
    ...others,
  });
  const world: BotWorld = {
    server,
    engine,
    panel,
    set: async (values) => void (await world.panel.get('/panel/api/setting/update', { body: values })),
    status: () => world.panel.get('/panel/api/x/msg-bot/status'),
    say: async (user, text) => {
      const before = server.calls.length;
      server.say(user, text);
      return answered(server, user, before);
    },
    press: async (user, data) => {
      const shown = server.last(user);
      const found = shown?.buttons.find((button) => button.data.startsWith(data));
      if (!shown || !found)
        throw new Error(
          `no button ${data} below ${JSON.stringify(shown?.text)}: ${JSON.stringify(shown?.buttons)}`,
        );
      const before = server.calls.length;
      server.press(user, shown.messageId, found.data);
      return answered(server, user, before, 'answerCallbackQuery');
    },
    until,
    [Symbol.asyncDispose]: () => world.panel[Symbol.asyncDispose](),
  };
  await world.set(botSettings(server, settings));
  return world;
}

/** Waits until the user has an answer, and the button, if one was pressed, its own. */
async function answered(server: BotServer, user: number, before: number, last = ''): Promise<string> {
  await until(() => {
    const calls = server.calls.slice(before);
    const isSent = calls.some(
      ({ method, body }) =>
        ['sendMessage', 'editMessageText', 'sendDocument', 'sendPhoto'].includes(method) &&
        Number(body['chat_id']) === user,
    );
    return last === '' ? isSent : calls.some(({ method }) => method === last);
  }, `an answer for ${user}`);
  return server.last(user)?.text ?? '';
}

export async function connected(world: BotWorld): Promise<void> {
  await until(async () => (await world.status()).state === 'running', 'the bot is connected');
}
