// Finds what a message or a button asks for, and who may ask for it.
import { type Log, messageOf, PanelError } from '../../../kernel/index.js';
import type { BotUpdate } from '../api/update.js';
import { escapeHtml } from '../texts/html.js';
import type { Dialogs } from './dialogs.js';
import { Declined, type Screen } from './screen.js';
import type { Turn } from './turn.js';

const COMMAND = /^\/([a-z_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+([\s\S]*))?$/i;

export interface Audience {
  /** whether a client belongs to this user */
  readonly isClient: boolean;
  /** name of the bot: commands for other bots are not ours */
  readonly username: string;
}
type Handle = () => Promise<void>;

function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}

export class Dispatcher {
  readonly #screens: readonly Screen[];
  readonly #dialogs: Dialogs;
  readonly #log: Log;

  constructor(screens: readonly Screen[], dialogs: Dialogs, log: Log) {
    this.#screens = screens;
    this.#dialogs = dialogs;
    this.#log = log;
  }

  /** Never rejects. */
  async handle(turn: Turn, update: BotUpdate, audience: Audience): Promise<void> {
    try {
      await this.#answer(turn, update, audience);
    } catch (error) {
      await this.#explain(turn, error).catch((reason: unknown) =>
        this.#log.debug('an answer of the bot could not be sent', { reason: messageOf(reason) }),
      );
    } finally {
      await turn.notice('').catch(() => undefined);
    }
  }

  async #answer(turn: Turn, { message, callback_query: pressed }: BotUpdate, audience: Audience) {
    if (pressed) return this.#press(turn, pressed.data ?? '', audience);
    const picked = message?.users_shared?.users[0]?.user_id;
    const text = picked === undefined ? (message?.text ?? '').trim() : String(picked);
    const [, command, bot = '', rest = ''] = COMMAND.exec(text) ?? [];
    if (command === undefined) return this.#typed(turn, text, audience);
    if (bot !== '' && bot.toLowerCase() !== audience.username.toLowerCase()) return;
    await this.#command(turn, command.toLowerCase(), rest.trim(), audience);
  }

  /** The first that has it and may be used: admins come first, as clients see less. */
  #find<T>(
    turn: Turn,
    { isClient }: Audience,
    of: (screen: Screen) => T | undefined,
  ): T | 'denied' | undefined {
    let denied: 'denied' | undefined;
    for (const screen of this.#screens) {
      const found = of(screen);
      if (found === undefined) continue;
      if (screen.for === 'admin' ? turn.isAdmin : turn.isAdmin || isClient) return found;
      denied = 'denied';
    }
    return denied;
  }

  async #command(turn: Turn, name: string, rest: string, audience: Audience): Promise<void> {
    const id = String(turn.userId);
    if (name === 'id') return turn.say([turn.texts.html('yourId', { id })]);
    if (!turn.isAdmin && !audience.isClient) return turn.say([turn.texts.html('stranger', { id })]);
    await this.#dialogs.close(turn.userId);
    const found = this.#find(turn, audience, ({ commands }) => own(commands, name));
    if (found === 'denied') throw new Declined('denied');
    if (!found) throw new Declined('unknown');
    await found(turn, rest);
  }

  async #press(turn: Turn, data: string, audience: Audience): Promise<void> {
    const [name = '', ...args] = data.split(':', 6);
    const found = this.#find(turn, audience, ({ actions }) => own(actions, name));
    // A button of an earlier release is denied like a forged one.
    if (found === undefined || found === 'denied') return turn.notice(turn.texts.plain('denied'));
    await (found as (turn: Turn, ...args: string[]) => Promise<void>)(turn, ...args);
  }

  async #typed(turn: Turn, text: string, audience: Audience): Promise<void> {
    if (!turn.isAdmin && !audience.isClient)
      return turn.say([turn.texts.html('stranger', { id: String(turn.userId) })]);
    const dialog = await this.#dialogs.of(turn.userId);
    if (dialog === undefined) throw new Declined('noQuestion');
    const step =
      dialog === 'expired' ? undefined : this.#find(turn, audience, ({ steps }) => own(steps, dialog.step));
    if (dialog === 'expired' || step === undefined || step === 'denied') {
      await this.#dialogs.close(turn.userId);
      throw new Declined('stopped');
    }
    const run: Handle = () => step(turn, text, dialog.data);
    await run();
  }

  async #explain(turn: Turn, error: unknown): Promise<void> {
    if (error instanceof Declined) return turn.say([turn.texts.html(error.key, error.values)]);
    if (error instanceof PanelError && error.status < 500)
      return turn.say([turn.texts.html('failed', { reason: error.message })]);
    const reason = messageOf(error);
    this.#log.warn('the bot could not do what a user asked for', { user: turn.userId, reason });
    await turn.say([turn.texts.html('broken')]);
  }
}

/** For lists: one name in bold. */
export const bold = (text: string): string => `<b>${escapeHtml(text)}</b>`;
