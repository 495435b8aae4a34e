// One message or pressed button of a user, with what answers it.
import type { Principal } from '../../../kernel/index.js';
import type { Keyboard, OutgoingFile } from '../api/bot-api.js';
import type { BotSession } from '../life/bot.js';
import { messagesOf } from '../texts/html.js';
import type { Texts } from '../texts/texts.js';

export interface Asked {
  readonly session: BotSession;
  readonly userId: number;
  readonly isAdmin: boolean;
  readonly texts: Texts;
  /** IANA zone; undefined is that of the machine */
  readonly zone: string | undefined;
  /** of a pressed button */
  readonly pressed?: { readonly id: string; readonly messageId: number } | undefined;
}

export class Turn {
  readonly userId: number;
  readonly isAdmin: boolean;
  readonly texts: Texts;
  readonly zone: string | undefined;
  /** The author of what is changed, in the record of changes. */
  readonly who: Principal;
  readonly #session: BotSession;
  readonly #pressed: Asked['pressed'];
  #isAnswered = false;
  #isShown = false;

  constructor({ session, userId, isAdmin, texts, zone, pressed }: Asked) {
    this.userId = userId;
    this.isAdmin = isAdmin;
    this.texts = texts;
    this.zone = zone;
    this.who = { kind: 'chat', name: `msg-bot ${userId}` };
    this.#session = session;
    this.#pressed = pressed;
  }

  get #sender() {
    return this.#session.sender;
  }

  /** Replaces the message of the pressed button, or sends a new one. */
  async show(html: string, keyboard: Keyboard = []): Promise<void> {
    if (this.#pressed && !this.#isShown) {
      this.#isShown = true;
      try {
        return await this.#sender.edit(this.userId, this.#pressed.messageId, html, keyboard);
      } catch {
        // Messages of more than two days cannot be edited, nor pictures.
      }
    }
    await this.#sender.send(this.userId, [html], keyboard);
  }

  /** Sends lines in as many messages as they need. */
  say(lines: readonly string[], keyboard: Keyboard = []): Promise<void> {
    return this.#sender.send(this.userId, messagesOf(lines), keyboard);
  }

  photo(file: OutgoingFile, html: string): Promise<void> {
    return this.#sender.photo(this.userId, file, html);
  }

  document(file: OutgoingFile, html: string): Promise<void> {
    return this.#sender.document(this.userId, file, html);
  }

  /** Ends the waiting mark of the button; without a button, `text` is a message. */
  async notice(text: string): Promise<void> {
    if (!this.#pressed) {
      if (text !== '') await this.say([text]);
      return;
    }
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    // Those of a bot that was off for a while are too old to be answered.
    await this.#sender.answer(this.#pressed.id, text).catch(() => undefined);
  }
}
