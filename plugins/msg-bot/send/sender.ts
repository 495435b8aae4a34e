// Sends what a conversation needs. It waits when the Bot API asks for it, and tries again when the network failed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotApi, Keyboard, OutgoingFile } from '../api/bot-api.js';
import { failureOf } from '../api/failure.js';

const ATTEMPTS = 3;
/** Who waits longer presses the button again. */
const LONGEST_WAIT_MS = 30_000;

export class Sender {
  readonly #api: BotApi;
  readonly #signal: AbortSignal;

  constructor(api: BotApi, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  async #patiently<T>(call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return await call();
      } catch (error) {
        this.#signal.throwIfAborted();
        const failure = failureOf(error);
        const pause = failure.kind === 'rate' ? (failure.retryAfterMs ?? 1_000) : attempt * 1_000;
        const mayRetry = failure.kind === 'rate' || failure.kind === 'network';
        if (!mayRetry || attempt >= ATTEMPTS || pause > LONGEST_WAIT_MS) throw failure;
        await sleep(pause, undefined, { signal: this.#signal });
      }
  }

  /** Sends one message after another; the buttons are below the last one. */
  async send(chatId: number, messages: readonly string[], keyboard: Keyboard = []): Promise<void> {
    for (const [index, html] of messages.entries()) {
      const buttons = index === messages.length - 1 ? keyboard : [];
      await this.#patiently(() => this.#api.send(chatId, html, buttons, this.#signal));
    }
  }

  edit(chatId: number, messageId: number, html: string, keyboard: Keyboard): Promise<void> {
    return this.#patiently(() => this.#api.edit(chatId, messageId, html, keyboard, this.#signal));
  }

  /** Not repeated: the mark of a button ends by itself. */
  answer(id: string, text: string): Promise<void> {
    return this.#api.answer(id, text, this.#signal);
  }

  photo(chatId: number, file: OutgoingFile, html: string): Promise<void> {
    return this.#patiently(() => this.#api.sendPhoto(chatId, file, html, this.#signal));
  }

  document(chatId: number, file: OutgoingFile, html: string): Promise<void> {
    return this.#patiently(() => this.#api.sendDocument(chatId, file, html, this.#signal));
  }
}
