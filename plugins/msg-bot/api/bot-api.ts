// The calls of the Bot API that the panel makes. Each rejects with a BotFailure.
import type { RawApi } from 'grammy';
import { inspect, int, shape, text } from '../../../kernel/index.js';
import { cut, plain } from '../texts/html.js';
import { BotFailure, failureOf } from './failure.js';
import { HOLD_S, transportOf, type Way } from './transport.js';
import { ALLOWED_UPDATES, type BotUpdate, readUpdates } from './update.js';

export const PUBLIC_SERVER = 'https://api.telegram.org';
/** Updates of one reply. */
const PORTION = 50;

const Me = shape({ id: int().min(1), username: text().max(64) });
const Sent = shape({ message_id: int() });

/** Buttons below a message: a callback, or a link. */
export interface Button {
  readonly text: string;
  readonly data: string;
}
export type Keyboard = readonly (readonly Button[])[];
const DATA_BYTES = 64;
const LABEL = 64;
const NOTICE = 190;

/** The Bot API rejects a whole message because of one button. */
function keyboardOf(keyboard: Keyboard) {
  return {
    inline_keyboard: keyboard.map((row) =>
      row.map(({ text, data }) => {
        const bytes = Buffer.byteLength(data);
        if (bytes === 0 || bytes > DATA_BYTES) throw new Error(`the data of a button has ${bytes} bytes`);
        return { text: cut(plain(text).trim(), LABEL) || '-', callback_data: data };
      }),
    ),
  };
}

export interface BotAccount {
  readonly token: string;
  /** without a slash at its end */
  readonly apiServer: string;
}
export interface OutgoingFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export class BotApi {
  readonly #raw: RawApi;
  readonly #grammy: typeof import('grammy');

  private constructor(grammy: typeof import('grammy'), { token, apiServer }: BotAccount, way: Way) {
    this.#grammy = grammy;
    const fetch = transportOf(way) as never;
    // Calls have shorter limits of their own; this one must not be below that of a file.
    this.#raw = new grammy.Api(token, { apiRoot: apiServer, fetch, timeoutSeconds: 660 }).raw;
  }

  /** The package is loaded here, and nowhere else: most panels have no bot. */
  static async open(account: BotAccount, way: Way): Promise<BotApi> {
    return new BotApi(await import('grammy'), account, way);
  }

  async #call<T>(signal: AbortSignal, call: (raw: RawApi, signal: never) => Promise<T>): Promise<T> {
    try {
      return await call(this.#raw, signal as never);
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error);
    }
  }

  async me(signal: AbortSignal): Promise<{ readonly id: number; readonly username: string }> {
    const found = inspect(Me, await this.#call(signal, (raw, stop) => raw.getMe(stop)));
    if ('issues' in found) throw new BotFailure('network', 'the Bot API does not say who the bot is');
    return found.value as { id: number; username: string };
  }

  /** Waits up to 20 s for the first update. */
  async updates(offset: number, signal: AbortSignal): Promise<BotUpdate[]> {
    const reply = await this.#call(signal, (raw, stop) =>
      raw.getUpdates(
        {
          timeout: HOLD_S,
          limit: PORTION,
          allowed_updates: ALLOWED_UPDATES,
          ...(offset > 0 && { offset }),
        },
        stop,
      ),
    );
    const updates = readUpdates(reply);
    if (!updates) throw new BotFailure('network', 'the Bot API answered with something else than updates');
    return updates;
  }

  async setWebhook(url: string, secret: string, signal: AbortSignal): Promise<void> {
    await this.#call(signal, (raw, stop) =>
      // One at a time, so that they come in their order.
      raw.setWebhook(
        { url, secret_token: secret, max_connections: 1, allowed_updates: ALLOWED_UPDATES },
        stop,
      ),
    );
  }

  async deleteWebhook(signal: AbortSignal): Promise<void> {
    await this.#call(signal, (raw, stop) => raw.deleteWebhook({}, stop));
  }

  async setCommands(
    commands: readonly { readonly command: string; readonly description: string }[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#call(signal, (raw, stop) => raw.setMyCommands({ commands: [...commands] }, stop));
  }

  /** `html` has at most 4,096 characters after its marks are read. Resolves with the id of the message. */
  async send(chatId: number, html: string, keyboard: Keyboard, signal: AbortSignal): Promise<number> {
    const sent = await this.#call(signal, (raw, stop) =>
      raw.sendMessage(
        {
          chat_id: chatId,
          text: html,
          parse_mode: 'HTML',
          link_preview_options: { is_disabled: true },
          ...(keyboard.length > 0 && { reply_markup: keyboardOf(keyboard) }),
        },
        stop,
      ),
    );
    const found = inspect(Sent, sent);
    return 'value' in found ? (found.value as { message_id: number }).message_id : 0;
  }

  /** Replaces a message of the bot; resolves also if nothing is different. */
  async edit(
    chatId: number,
    messageId: number,
    html: string,
    keyboard: Keyboard,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#call(signal, (raw, stop) =>
        raw.editMessageText(
          {
            chat_id: chatId,
            message_id: messageId,
            text: html,
            parse_mode: 'HTML',
            link_preview_options: { is_disabled: true },
            reply_markup: keyboardOf(keyboard),
          },
          stop,
        ),
      );
    } catch (error) {
      if (!(error instanceof BotFailure && /not modified/i.test(error.message))) throw error;
    }
  }

  /** Ends the waiting mark of a pressed button; `text` appears for a moment. */
  async answer(id: string, text: string, signal: AbortSignal): Promise<void> {
    await this.#call(signal, (raw, stop) =>
      raw.answerCallbackQuery(
        { callback_query_id: id, ...(text !== '' && { text: cut(text, NOTICE) }) },
        stop,
      ),
    );
  }

  async sendPhoto(chatId: number, { name, bytes }: OutgoingFile, html: string, signal: AbortSignal) {
    const photo = new this.#grammy.InputFile(bytes, name);
    await this.#call(signal, (raw, stop) =>
      raw.sendPhoto({ chat_id: chatId, photo, caption: html, parse_mode: 'HTML' }, stop),
    );
  }

  async sendDocument(chatId: number, { name, bytes }: OutgoingFile, html: string, signal: AbortSignal) {
    const document = new this.#grammy.InputFile(bytes, name);
    await this.#call(signal, (raw, stop) =>
      raw.sendDocument({ chat_id: chatId, document, caption: html, parse_mode: 'HTML' }, stop),
    );
  }
}
