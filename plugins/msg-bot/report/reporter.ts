// Sends the report to the admins when it is due, with a backup if they want one.
import type { Clock, Database, LiveSettings, Log, PluginContext } from '../../../kernel/index.js';
import { messageOf } from '../../../kernel/index.js';
import { panelSettings, timeZoneOf } from '../../settings/contract.js';
import { adminChats } from '../admins.js';
import { Declined } from '../chat/screen.js';
import type { Screens } from '../chat/screens.js';
import type { Bot, BotSession } from '../life/bot.js';
import { backupCaption, backupFile } from '../screens/backups.js';
import type { BotSettings } from '../settings.js';
import type { BotTables } from '../tables.js';
import { messagesOf } from '../texts/html.js';
import { type Texts, textsOf } from '../texts/texts.js';
import { reportLines } from './report.js';
import { nextRun } from './run-time.js';

const ID = 1;

interface Needs {
  readonly bot: Bot;
  readonly screens: Screens;
  readonly settings: LiveSettings<BotSettings>;
  readonly db: Database;
  readonly tables: BotTables;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: PluginContext['self'];
}

export class Reporter {
  readonly #needs: Needs;
  /** since when the time of the next report is counted; undefined until it is read */
  #since: { readonly runTime: string; readonly since: number } | undefined;

  constructor({ bot, screens, settings, db, tables, clock, log, self }: Needs) {
    this.#needs = { bot, screens, settings, db, tables, clock, log, self };
  }

  /** Called each minute. A report that was missed while the panel was off is sent once, later. */
  async look(): Promise<void> {
    const { bot, settings, clock, screens } = this.#needs;
    const { msgBotRunTime: runTime, msgBotEnable } = settings.read();
    const session = bot.session;
    if (!msgBotEnable || runTime === '' || !session) return;
    const now = clock.now();
    this.#since ??= (await this.#needs.tables.reports.findByPk(ID))?.get();
    // Another time was set, or the clock was set back.
    if (this.#since?.runTime !== runTime || this.#since.since > now) await this.#keep(runTime, now);
    const zone = timeZoneOf(screens.parts.allSettings.read(panelSettings).timeLocation);
    if (nextRun(runTime, this.#since?.since ?? now, zone) > now) return;
    // Before it is sent: a report is rather missed than sent again and again.
    await this.#keep(runTime, now);
    await this.send(session);
  }

  async #keep(runTime: string, since: number): Promise<void> {
    const { db, tables, log } = this.#needs;
    this.#since = { runTime, since };
    await db
      .write((tx) => tables.reports.upsert({ id: ID, runTime, since }, { transaction: tx.t }))
      .catch((error: unknown) =>
        log.warn('the time of the report cannot be stored', { reason: messageOf(error) }),
      );
  }

  /** Each chat gets it, whatever happens to the others. */
  async send(session: BotSession): Promise<void> {
    const { settings, screens, log } = this.#needs;
    const { msgBotChatId, msgBotLang, msgBotBackup } = settings.read();
    const texts = textsOf(msgBotLang);
    const zone = timeZoneOf(screens.parts.allSettings.read(panelSettings).timeLocation);
    const messages = messagesOf(await reportLines(screens.parts, { texts, zone }));
    const chats = adminChats(msgBotChatId);
    await this.#toEach(chats, (chat) => session.sender.send(chat, messages));
    if (!msgBotBackup) return;
    try {
      await this.sendBackup(session, this.#needs.self, texts);
    } catch (error) {
      const said = error instanceof Declined ? texts.html(error.key, error.values) : undefined;
      log.warn('the backup of the report could not be sent', { reason: messageOf(error) });
      const html = said ?? texts.html('failed', { reason: messageOf(error) });
      await this.#toEach(chats, (chat) => session.sender.send(chat, [html]));
    }
  }

  /** Makes a backup and sends it to all chats of admins; resolves with how many have it. */
  async sendBackup(session: BotSession, who: PluginContext['self'], texts: Texts): Promise<number> {
    const { backups } = this.#needs.screens.parts;
    if (!backups) throw new Declined('unavailable', { plugin: 'backup' });
    const { file, facts } = await backupFile(backups, who, texts);
    const chats = adminChats(this.#needs.settings.read().msgBotChatId);
    return this.#toEach(chats, (chat) => session.sender.document(chat, file, backupCaption(texts, facts)));
  }

  async #toEach(chats: readonly number[], send: (chat: number) => Promise<void>): Promise<number> {
    let sent = 0;
    for (const chat of chats)
      try {
        await send(chat);
        sent++;
      } catch (error) {
        this.#needs.log.warn('a chat of an admin could not be reached', { chat, reason: messageOf(error) });
      }
    return sent;
  }
}
