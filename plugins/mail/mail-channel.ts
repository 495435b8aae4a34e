// Mail as a channel of notifications.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, LiveSettings, Log } from '../../kernel/index.js';
import type { Channel, Notification } from '../notifications/contract.js';
import { letterOf } from './letter.js';
import { mailboxIn, type Mailbox, type mailSettings, recipientsIn } from './settings.js';
import { sendMail, SmtpFailure, type Stage, WHOLE_MS } from './smtp-session.js';

/** How a test went; `stage` is where it ended. */
export interface Tested {
  readonly success: boolean;
  readonly stage: Stage;
  readonly msg: string;
}

export class MailChannel implements Channel {
  readonly name = 'mail';
  /** A server that looks for viruses takes a mail late. If it were given up before, it would be sent again and again. */
  readonly attemptLimitMs = WHOLE_MS + 2_000;
  readonly #settings: LiveSettings<typeof mailSettings>;
  readonly #log: Log;
  readonly #clock: Clock;

  constructor({
    settings,
    log,
    clock,
  }: {
    settings: LiveSettings<typeof mailSettings>;
    log: Log;
    clock: Clock;
  }) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
  }

  readonly isOn = (): boolean => {
    const { smtpEnable, smtpHost } = this.#settings.read();
    return smtpEnable && smtpHost !== '';
  };
  readonly language = (): string => this.#settings.read().smtpLang;
  readonly events = (): readonly string[] => this.#settings.read().smtpEnabledEvents;

  readonly send = async (notification: Notification, signal: AbortSignal): Promise<void> => {
    const rejected = await this.#deliver(notification, signal);
    if (rejected.length > 0)
      this.#log.warn('the mail server refused some recipients; the others have the mail', {
        rejected: rejected.join(', '),
      });
  };

  /** Sends a mail that says that it is a test. Never rejects. */
  async test(signal: AbortSignal): Promise<Tested> {
    const text = `This is a test of the mails of the panel on ${hostname()}.`;
    const test: Notification = {
      id: randomUUID(),
      event: 'test',
      severity: 'info',
      at: this.#clock.now(),
      title: 'test',
      text,
      data: {},
    };
    try {
      const rejected = await this.#deliver(test, signal);
      return rejected.length === 0
        ? { success: true, stage: 'send', msg: 'the mail server took the mail' }
        : { success: false, stage: 'send', msg: `the mail server refused ${rejected.join(', ')}` };
    } catch (error) {
      const stage = error instanceof SmtpFailure ? error.stage : 'connect';
      return { success: false, stage, msg: (error as Error).message };
    }
  }

  /** Resolves with the recipients that the server refused. */
  #deliver(notification: Notification, signal: AbortSignal): Promise<readonly string[]> {
    const settings = this.#settings.read();
    const to = recipientsIn(settings.smtpTo);
    const from = mailboxIn(settings.smtpFrom || settings.smtpUsername);
    const missing =
      settings.smtpHost === ''
        ? 'smtpHost is empty: set the mail server'
        : from === undefined
          ? 'smtpFrom is empty, and smtpUsername is not an address: set the address of the sender'
          : to.length === 0
            ? 'smtpTo is empty: set who gets the mails'
            : undefined;
    if (missing !== undefined) return Promise.reject(new SmtpFailure('connect', missing, true));
    const name = settings.smtpFromName || (from?.name ?? '');
    return this.#send(notification, { from: { name, address: from?.address ?? '' }, to }, signal);
  }

  async #send(
    notification: Notification,
    { from, to }: { readonly from: Mailbox; readonly to: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { smtpHost, smtpPort, smtpEncryptionType, smtpSkipVerify, smtpUsername, smtpPassword, smtpLang } =
      this.#settings.read();
    const content = await letterOf(notification, {
      from,
      to,
      host: hostname(),
      language: smtpLang,
    });
    return sendMail(
      {
        host: smtpHost,
        port: smtpPort,
        encryption: smtpEncryptionType,
        skipVerify: smtpSkipVerify,
        username: smtpUsername,
        password: smtpPassword,
      },
      { from: from.address, to, content },
      signal,
    );
  }
}
