// Sends the report, with a backup if an admin wants one.
import { type Clock, type LiveSettings, type Log, messageOf } from '../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import type { BackupFile } from './backup-file.js';
import { type ChatCall, ChatError } from './chat-call.js';
import { COLORS } from './embed.js';
import { labelsOf } from './labels.js';
import type { Report } from './report.js';
import { nextRun } from './run-time.js';
import type { WebhookSettings } from './settings.js';

const MOST_ATTEMPTS = 3;
const PAUSE_MS = 60_000;
/** A cron expression may have seconds. */
const LEAST_MS = 60_000;

export class ReportSchedule {
  readonly #settings: LiveSettings<WebhookSettings>;
  readonly #allSettings: SettingsApi;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #report: Report;
  readonly #chat: ChatCall;
  readonly #backupFile: BackupFile;
  /** the setting that `#dueAt` was computed from */
  #runTime: string | undefined;
  #dueAt: number | undefined;
  /** when `look` was called last: a clock that was set back must not hold the report for as long */
  #lookedAt = 0;
  #attempts = 0;
  /** The report was sent, and its backup was not: another attempt must not send it twice. */
  #isReported = false;

  constructor(needs: {
    settings: LiveSettings<WebhookSettings>;
    allSettings: SettingsApi;
    clock: Clock;
    log: Log;
    report: Report;
    chat: ChatCall;
    backupFile: BackupFile;
  }) {
    this.#settings = needs.settings;
    this.#allSettings = needs.allSettings;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#report = needs.report;
    this.#chat = needs.chat;
    this.#backupFile = needs.backupFile;
  }

  /** Called every few seconds. A report that was due while the panel was off is not sent. */
  async look(signal: AbortSignal): Promise<void> {
    const { webhookEnable, webhookRunTime } = this.#settings.read();
    const now = this.#clock.now();
    const zone = timeZoneOf(this.#allSettings.read(panelSettings).timeLocation);
    const runTime = `${webhookRunTime} ${zone ?? ''}`;
    const plan = (from: number): void => {
      this.#dueAt = nextRun(webhookRunTime, from, zone);
      this.#attempts = 0;
      // What was half sent belongs to the report before.
      this.#isReported = false;
    };
    const isSetBack = now < this.#lookedAt;
    this.#lookedAt = now;
    if (runTime !== this.#runTime || isSetBack) {
      this.#runTime = runTime;
      plan(now);
    }
    if (this.#dueAt === undefined || now < this.#dueAt) return;
    if (!webhookEnable || !this.#chat.isSetUp) return plan(now);
    const planNext = (): void => {
      plan(now);
      if (this.#dueAt !== undefined) this.#dueAt = Math.max(this.#dueAt, now + LEAST_MS);
    };
    try {
      await this.send(signal);
      planNext();
    } catch (error) {
      if (signal.aborted) return;
      const { retryAfterMs = PAUSE_MS, isPermanent = false } = error instanceof ChatError ? error : {};
      const isOver = isPermanent || ++this.#attempts >= MOST_ATTEMPTS;
      if (isOver) planNext();
      else this.#dueAt = now + retryAfterMs;
      this.#log.warn('a report could not be sent to the chat', { reason: messageOf(error), again: !isOver });
    }
  }

  async send(signal: AbortSignal): Promise<void> {
    if (!this.#isReported) await this.#chat.post(await this.#report.embed(), { signal });
    this.#isReported = true;
    const { webhookBackup, webhookLang } = this.#settings.read();
    if (webhookBackup) await this.#sendBackup(webhookLang, signal);
    this.#isReported = false;
  }

  async #sendBackup(webhookLang: string, signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const labels = labelsOf(webhookLang);
    const file = await this.#backupFile.make(now, signal);
    const timestamp = new Date(now).toISOString();
    if (file) {
      const embed = { title: labels.backup, description: file.name, color: COLORS.blue, timestamp };
      await this.#chat.post(embed, { files: [file], signal });
    } else {
      await this.#chat.post(
        { title: labels.backup, description: labels.tooLarge, color: COLORS.orange, timestamp },
        { signal },
      );
      this.#log.warn('the copy of the database is too large for the chat', {});
    }
  }
}
