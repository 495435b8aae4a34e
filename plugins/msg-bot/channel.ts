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

interface Progress {
  /** chats that are done with: they have it, or never get it */
  readonly done: Set<number>;
  /** whether one of them has it */
  isReached: boolean;
}
type Sent = Notification & { readonly severity?: string; readonly title?: string };

interface Needs {
  readonly bot: Bot;
  readonly settings: LiveSettings<BotSettings>;
  readonly log: Log;
}

export class BotChannel implements Channel {
  readonly name = 'msgBot';
  readonly #needs: Needs;
  /** by the id of the notification */
  readonly #progress = new Map<string, Progress>();

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
    const progress = this.#progressOf(notification.id);
    const { done } = progress;
    const failures: BotFailure[] = [];
    for (const chat of chats) {
      if (done.has(chat)) continue;
      try {
        await this.#deliver(chat, notification, signal);
        done.add(chat);
        progress.isReached = true;
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
    if (failures[0] && !progress.isReached) throw failures[0];
    this.#progress.delete(notification.id);
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

  #progressOf(id: string): Progress {
    const known = this.#progress.get(id);
    if (known) return known;
    const [oldest] = this.#progress.keys();
    if (this.#progress.size >= MOST_REMEMBERED && oldest !== undefined) this.#progress.delete(oldest);
    const begun = { done: new Set<number>(), isReached: false };
    this.#progress.set(id, begun);
    return begun;
  }
}
