// Routes of the bot, for admins.
import { hostname } from 'node:os';
import { bare, bool, message, oneOf, payload, route, type Route, shape, text } from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import { adminChats } from './admins.js';
import { BotFailure, failureOf } from './api/failure.js';
import { Declined } from './chat/screen.js';
import { errors } from './errors.js';
import type { Bot } from './life/bot.js';
import { webhookRoute } from './life/webhook.js';
import type { Reporter } from './report/reporter.js';
import type { BotSettings } from './settings.js';
import type { LiveSettings } from '../../kernel/index.js';
import { textsOf } from './texts/texts.js';

interface Scope {
  readonly bot: Bot;
  readonly reporter: Reporter;
  readonly settings: LiveSettings<BotSettings>;
}

const MOST_PROBLEMS = 5;

async function test(bot: Bot, settings: LiveSettings<BotSettings>, signal: AbortSignal): Promise<string> {
  const { msgBotEnable, msgBotToken, msgBotChatId, msgBotLang } = settings.read();
  if (!msgBotEnable) return 'the bot is disabled; enable it with msgBotEnable and save the settings';
  if (msgBotToken === '') return 'the bot has no token (msgBotToken)';
  const { session, status } = bot;
  if (!session) return `the bot does not run: ${status.problem || 'it is not connected yet'}`;
  const chats = adminChats(msgBotChatId);
  if (chats.length === 0) return 'the bot has no admins (msgBotChatId)';
  const stop = AbortSignal.any([signal, session.signal]);
  const html = textsOf(msgBotLang).html('testMessage', { host: hostname() });
  const problems: string[] = [];
  try {
    await session.api.me(stop);
    for (const chat of chats) {
      const failure = await session.api.send(chat, html, [], stop).then(() => undefined, failureOf);
      stop.throwIfAborted();
      // The others may be reached all the same.
      if (failure) problems.push(`chat ${chat}: ${failure.message}`);
      if (failure && !['chat', 'rejected'].includes(failure.kind)) break;
    }
  } catch (error) {
    if (session.signal.aborted) return 'the bot was stopped or its settings were changed during the test';
    if (!(error instanceof BotFailure)) throw error;
    problems.push(error.message);
  }
  if (problems.length === 0) return '';
  const more = problems.length > MOST_PROBLEMS ? `; and ${problems.length - MOST_PROBLEMS} more` : '';
  return `the test failed: ${problems.slice(0, MOST_PROBLEMS).join('; ')}${more}`;
}

export const botRoutes = ({ bot, reporter, settings }: Scope): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/setting/testMsgBot',
    name: 'settings.testMsgBot',
    doc: 'Sends a test message of the bot to all its admins, with the saved settings.',
    reply: bare(shape({ success: bool(), msg: text() })),
    handle: async ({ signal, reply }) => {
      const problem = await holdingOpen(reply.progressed, () => test(bot, settings, signal));
      return { success: problem === '', msg: problem || 'the test message was sent' };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/msg-bot/status',
    name: 'msgBot.status',
    doc: 'Whether the bot is connected, and why not.',
    reply: payload(
      shape({
        state: oneOf('off', 'connecting', 'running', 'failing'),
        username: text().description('of the bot; blank while it is not connected'),
        problem: text().description('why it does not work; blank if it does'),
        byWebhook: bool().description('whether updates are delivered (msgBotWebhook) and not fetched'),
      }),
    ),
    handle: () => bot.status,
  }),
  route({
    method: 'POST',
    path: '/panel/api/backuptotgbot',
    name: 'msgBot.sendBackup',
    doc: 'Makes a backup and sends it to the admins of the bot.',
    reply: message(),
    errors: [errors.NOT_CONNECTED, errors.NOT_SENT],
    handle: async ({ who, reply }) => {
      const { session } = bot;
      if (!session) throw errors.NOT_CONNECTED();
      const texts = textsOf('en');
      try {
        const sent = await holdingOpen(reply.progressed, () => reporter.sendBackup(session, who, texts));
        if (sent === 0) throw errors.NOT_SENT();
        return `the backup was sent to ${sent} chats`;
      } catch (error) {
        if (error instanceof Declined) throw errors.NOT_SENT(texts.plain(error.key, error.values));
        throw error;
      }
    },
  }),
  webhookRoute(bot),
];
