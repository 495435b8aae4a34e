// The bot as a channel of notifications.
import { type LiveSettings, type Log, messageOf } from '../../kernel/index.js';
import type { Channel, Notification } from '../notifications/contract.js';
import { adminChats } from './admins.js';
import { BotFailure } from './api/failure.js';
import type { Bot } from './life/bot.js';
import type { BotSettings } from './settings.js';
import { escapedParts, escapeHtml } from './texts/html.js';
import { languageOf } from './texts/texts.js';

const MARKS: Readonly<Record<string, string>> = { info: '🔵', warning: '🟠', critical: '🔴' };
/** Deliveries that are remembered, so that a repetition reaches only those that did not get it. */
const MOST_REMEMBERED = 200;

type Sent = Notification & { readonly severity?: string; readonly title?: string };

interface Needs {
  readonly bot: Bot;
  readonly settings: LiveSettings<BotSettings>;
  readonly log: Log;
}

export class BotChannel implements Channel {
  readonly name = 'msgBot';
  readonly #needs: Needs;
  /** chats that are done with, by the id of the notification */
  readonly #done = new Map<string, Set<number>>();

  constructor({ bot, settings, log }: Needs) {
    this.#needs = { bot, settings, log };
  }

  isOn(): boolean {
    const { msgBotEnable, msgBotToken } = this.#needs.settings.read();
    return msgBotEnable && msgBotToken !== '';
  }

  language(): string {
    return languageOf(this.#needs.settings.read().msgBotLang) ?? 'en';
  }

  /** The names as an admin wrote them; older panels have others for the same events, and notifications know both. */
  events(): readonly string[] {
    const { msgBotEnabledEvents, msgBotChatId } = this.#needs.settings.read();
    // Clients are reached without a chat of an admin too.
    if (adminChats(msgBotChatId).length === 0) return [];
    const names = msgBotEnabledEvents.split(',');
    return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  }

  async send(notification: Sent, signal: AbortSignal): Promise<void> {
    const chats = adminChats(this.#needs.settings.read().msgBotChatId);
    if (chats.length === 0) throw new BotFailure('chat', 'the bot has no admins (msgBotChatId)');
    const done = this.#doneOf(notification.id);
    const failures: BotFailure[] = [];
    for (const chat of chats) {
      if (done.has(chat)) continue;
      try {
        await this.#deliver(chat, notification, signal);
        done.add(chat);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof BotFailure)) throw error;
        failures.push(error);
        // An admin who has blocked the bot must not make the others get it again.
        if (error.kind === 'chat' || error.kind === 'rejected') {
          done.add(chat);
          this.#needs.log.warn('a chat of an admin could not be reached', { chat, reason: messageOf(error) });
        } else break;
      }
    }
    const transient = failures.find(({ kind }) => kind !== 'chat' && kind !== 'rejected');
    if (transient) throw transient;
    if (failures[0] && failures.length === chats.length) throw failures[0];
    this.#done.delete(notification.id);
  }

  sendToClient(
    notification: Sent,
    client: { readonly id: number; readonly email: string; readonly messengerId: number },
    signal: AbortSignal,
  ): Promise<void> {
    return this.#deliver(client.messengerId, notification, signal);
  }

  async #deliver(
    chat: number,
    { text, title = '', severity = 'info' }: Sent,
    signal: AbortSignal,
  ): Promise<void> {
    const session = this.#needs.bot.session;
    if (!session) throw new BotFailure('network', 'the bot is not connected');
    const [first = '', ...rest] = escapedParts(text);
    const mark = MARKS[severity] ?? MARKS['info'];
    const head = title === '' ? `${mark} ` : `${mark} <b>${escapeHtml(title)}</b>\n`;
    for (const part of [`${head}${first}`, ...rest])
      await session.api.send(chat, part, [], AbortSignal.any([signal, session.signal]));
  }

  #doneOf(id: string): Set<number> {
    const known = this.#done.get(id);
    if (known) return known;
    const [oldest] = this.#done.keys();
    if (this.#done.size >= MOST_REMEMBERED && oldest !== undefined) this.#done.delete(oldest);
    const done = new Set<number>();
    this.#done.set(id, done);
    return done;
  }
}
