// Takes updates: ignores what is no private chat, limits each chat, and handles those of a user one after another.
import { type Clock, KeyedQueue, type LiveSettings, type Log } from '../../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../../settings/contract.js';
import { isAdmin } from '../admins.js';
import type { BotUpdate } from '../api/update.js';
import type { BotSession } from '../life/bot.js';
import type { Owners } from '../owners.js';
import type { BotSettings } from '../settings.js';
import { languageOf, textsOf } from '../texts/texts.js';
import { ChatLimiter } from './limiter.js';
import type { Screens } from './screens.js';
import { Turn } from './turn.js';

/** Waiting updates of one user, and of all users who are no admins. */
const MOST_OF_USER = 10;
const MOST = 200;
const QUIET_MS = 60_000;

interface Needs {
  readonly screens: Screens;
  readonly owners: Owners;
  readonly settings: LiveSettings<BotSettings>;
  readonly allSettings: SettingsApi;
  readonly clock: Clock;
  readonly log: Log;
}
interface Source {
  readonly userId: number;
  readonly language: string;
  readonly pressed: { readonly id: string; readonly messageId: number } | undefined;
}

/** Who wrote it, in a private chat; undefined for anything else. */
function sourceOf({ message, callback_query: query }: BotUpdate): Source | undefined {
  const from = query ? query.from : message?.from;
  const chat = query ? query.message?.chat : message?.chat;
  if (!from || !chat || from.is_bot || chat.type !== 'private' || chat.id !== from.id) return undefined;
  const pressed = query?.message && { id: query.id, messageId: query.message.message_id };
  return { userId: from.id, language: from.language_code ?? '', pressed };
}

export class Inbox {
  readonly #needs: Needs;
  readonly #limiter = new ChatLimiter();
  readonly #queue = new KeyedQueue<number>();
  readonly #waiting = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  #total = 0;
  #warnedAt = 0;

  constructor({ screens, owners, settings, allSettings, clock, log }: Needs) {
    this.#needs = { screens, owners, settings, allSettings, clock, log };
  }

  /** Returns at once. */
  take(session: BotSession, update: BotUpdate): void {
    const source = sourceOf(update);
    if (!source) return;
    const { settings, owners, clock } = this.#needs;
    const { userId } = source;
    const admin = isAdmin(settings.read().msgBotChatId, userId);
    const isClient = owners.has(userId);
    const verdict = this.#limiter.judge(userId, !admin && !isClient, clock.now());
    if (verdict === 'ignore') return;
    const waiting = this.#waiting.get(userId) ?? 0;
    if (waiting >= MOST_OF_USER || (!admin && this.#total >= MOST)) {
      this.#drop();
      return;
    }
    this.#waiting.set(userId, waiting + 1);
    this.#total++;
    const turn = this.#turnOf(session, source, admin);
    const work = this.#queue.run(userId, async () => {
      try {
        // The token was changed, or the panel stops.
        if (session.signal.aborted) return;
        if (verdict === 'warn') return await turn.say([turn.texts.html('tooFast')]).catch(() => undefined);
        await this.#needs.screens.handle(turn, update, { isClient, username: session.username });
      } finally {
        this.#done(userId);
      }
    });
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work)).catch(() => undefined);
  }

  #turnOf(session: BotSession, { userId, language, pressed }: Source, admin: boolean): Turn {
    const { settings, allSettings } = this.#needs;
    const { msgBotLang } = settings.read();
    // Admins have chosen a language; a client may read another one.
    const texts = textsOf(admin ? msgBotLang : (languageOf(language) ?? msgBotLang));
    const zone = timeZoneOf(allSettings.read(panelSettings).timeLocation);
    return new Turn({ session, userId, isAdmin: admin, texts, zone, pressed });
  }

  #done(userId: number): void {
    this.#total--;
    const left = (this.#waiting.get(userId) ?? 1) - 1;
    if (left > 0) this.#waiting.set(userId, left);
    else this.#waiting.delete(userId);
  }

  #drop(): void {
    const now = this.#needs.clock.now();
    if (Math.abs(now - this.#warnedAt) < QUIET_MS) return;
    this.#warnedAt = now;
    this.#needs.log.warn('the bot gets more messages than it can answer; dropping some', {});
  }

  /** Resolves when everything that was taken is handled. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running]);
  }

  tidy(): void {
    this.#limiter.tidy(this.#needs.clock.now());
  }
}
