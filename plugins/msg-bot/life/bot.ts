// The bot: connects with the settings of the moment, and again when they change. Nothing waits for the Bot API.
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveSettings, Log } from '../../../kernel/index.js';
import type { PanelsApi } from '../../cluster/contract.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../../outgoing/contract.js';
import { BotApi, PUBLIC_SERVER } from '../api/bot-api.js';
import { type BotFailure, failureAround } from '../api/failure.js';
import type { BotUpdate } from '../api/update.js';
import type { Inbox } from '../chat/inbox.js';
import { Sender } from '../send/sender.js';
import type { BotSettings } from '../settings.js';
import { textsOf } from '../texts/texts.js';
import { pauseAfter, poll } from './poller.js';
import type { UpdateLog } from './update-log.js';
import { PATH, secretsOf } from './webhook.js';

/** A token that was not accepted may be accepted later: by a server that had lost it. */
const REFUSED_MS = 10 * 60_000;
const STOP_MS = 2_000;
const ELSEWHERE = 'another panel of this database runs the bot';
const COMMANDS = {
  start: 'cmdStart',
  usage: 'cmdUsage',
  status: 'cmdStatus',
  id: 'cmdId',
  help: 'cmdHelp',
} as const;

/** Short, as the row of a bot has a key of at most 32 characters. */
const markOf = (server: string): string => createHash('sha256').update(server).digest('hex').slice(0, 10);

/** The bot while it is connected. */
export interface BotSession {
  /** of the bot, and of the server that it talks to where that is not the public one */
  readonly botId: string;
  readonly username: string;
  readonly api: BotApi;
  readonly sender: Sender;
  readonly signal: AbortSignal;
}
export type BotState = 'off' | 'connecting' | 'running' | 'failing';

interface Needs {
  readonly settings: LiveSettings<BotSettings>;
  readonly outgoing: OutgoingApi;
  readonly updates: UpdateLog;
  readonly inbox: Inbox;
  readonly log: Log;
  /** aborts when the panel begins to stop */
  readonly signal: AbortSignal;
  readonly panels?: PanelsApi | undefined;
}

export class Bot {
  readonly #needs: Needs;
  readonly #fetch: OutgoingFetch;
  readonly access: OutgoingAccess = {
    hosts: () => [this.#server],
    limits: { redirects: 0 },
  };
  #key = '';
  #stop = new AbortController();
  #run: Promise<void> = Promise.resolve();
  #session: BotSession | undefined;
  #state: BotState = 'off';
  #failure: BotFailure | undefined;

  constructor({ settings, outgoing, updates, inbox, log, signal, panels }: Needs) {
    this.#needs = { settings, outgoing, updates, inbox, log, signal, panels };
    this.#fetch = outgoing.for(this.access);
  }

  get #server(): string {
    return this.#needs.settings.read().msgBotApiServer.replace(/\/+$/, '') || PUBLIC_SERVER;
  }
  /** undefined while it is not connected */
  get session(): BotSession | undefined {
    return this.#session;
  }
  get status() {
    return {
      state: this.#state,
      username: this.#session?.username ?? '',
      problem: this.#isElsewhere ? ELSEWHERE : (this.#failure?.message ?? ''),
      byWebhook: this.#needs.settings.read().msgBotWebhook !== '',
    };
  }
  /** What an admin has to fix; a network that fails now and then is not. */
  get problem(): string {
    const kind = this.#failure?.kind;
    return kind === 'token' || kind === 'conflict' || kind === 'rejected'
      ? (this.#failure?.message ?? '')
      : '';
  }
  /** undefined while no updates are to be delivered */
  get webhookSecrets(): ReturnType<typeof secretsOf> | undefined {
    const { msgBotWebhook, msgBotToken } = this.#needs.settings.read();
    return this.#session && msgBotWebhook !== '' ? secretsOf(msgBotToken) : undefined;
  }

  /** The Bot API gives updates to one caller only. */
  get #isElsewhere(): boolean {
    return this.#needs.panels?.leads === false;
  }

  /** Connects with the current settings, if they are others than before, unless another panel does. Returns at once. */
  apply(): void {
    const { msgBotEnable, msgBotToken, msgBotProxy, msgBotApiServer, msgBotWebhook, msgBotLang } =
      this.#needs.settings.read();
    const isOn = msgBotEnable && msgBotToken !== '' && !this.#isElsewhere;
    const parts = [msgBotToken, msgBotProxy, msgBotApiServer, msgBotWebhook, msgBotLang];
    const key = isOn ? JSON.stringify(parts) : '';
    if (key === this.#key) return;
    this.#key = key;
    this.#end();
    if (!isOn) return;
    this.#stop = new AbortController();
    this.#state = 'connecting';
    // Jobs, such as a report on its way, must not make the stop of the panel wait either.
    const signal = AbortSignal.any([this.#stop.signal, this.#needs.signal]);
    // Each call and each pause listens to it.
    setMaxListeners(0, signal);
    // The previous run ends by itself: its signal is aborted.
    this.#run = this.#connect(signal);
  }

  #end(): void {
    this.#stop.abort(new Error('the bot stops'));
    this.#session = undefined;
    this.#failure = undefined;
    this.#state = 'off';
  }

  /** Waits two seconds at most for what is under way. */
  async stop(): Promise<void> {
    this.#key = '';
    this.#end();
    const timer = new AbortController();
    const late = sleep(STOP_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([Promise.all([this.#run, this.#needs.inbox.settled()]), late]);
    timer.abort();
  }

  async #connect(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await this.#live(signal, () => (failures = 0));
      } catch (error) {
        if (signal.aborted) return;
        const failure = failureAround(error);
        this.#report(signal, failure);
        this.#session = undefined;
        const pause = failure.kind === 'token' ? REFUSED_MS : pauseAfter(failure, failures);
        await sleep(pause, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** One connection: resolves never. */
  async #live(signal: AbortSignal, connected: () => void): Promise<void> {
    const { settings, updates } = this.#needs;
    const { msgBotToken: token, msgBotProxy: proxy, msgBotWebhook: webhook, msgBotLang } = settings.read();
    const api = await BotApi.open({ token, apiServer: this.#server }, { fetch: this.#fetch, proxy });
    const { id, username } = await api.me(signal);
    // A Bot API server of one's own numbers the updates of a bot in its own way.
    const botId = this.#server === PUBLIC_SERVER ? String(id) : `${id}@${markOf(this.#server)}`;
    if (webhook === '') await api.deleteWebhook(signal);
    else {
      const { path, header } = secretsOf(token);
      await api.setWebhook(`${webhook.replace(/\/+$/, '')}${PATH}/${path}`, header, signal);
    }
    const texts = textsOf(msgBotLang);
    const commands = Object.entries(COMMANDS).map(([command, key]) => ({
      command,
      description: texts.plain(key),
    }));
    await api.setCommands(commands, signal);
    signal.throwIfAborted();
    this.#session = { botId, username, api, sender: new Sender(api, signal), signal };
    connected();
    this.#report(signal, undefined);
    this.#needs.log.info('the bot is connected', { bot: username });
    if (webhook !== '') await this.#watch(api, signal);
    await poll({
      api,
      signal,
      offset: () => updates.offset(botId),
      take: (batch) => this.#take(batch),
      report: (failure) => this.#report(signal, failure),
    });
  }

  /** With a webhook nothing is called for days: asks now and then whether the token is still accepted. Resolves never. */
  async #watch(api: BotApi, signal: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(REFUSED_MS, undefined, { signal });
      try {
        await api.me(signal);
        this.#report(signal, undefined);
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureAround(error);
        if (failure.kind === 'token') throw failure;
        this.#report(signal, failure);
      }
    }
  }

  async #take(batch: readonly BotUpdate[]): Promise<number> {
    const session = this.#session;
    if (!session || batch.length === 0) return 0;
    const fresh = await this.#needs.updates.claim(session.botId, batch);
    for (const update of fresh) this.#needs.inbox.take(session, update);
    return fresh.length;
  }

  /** An update of the webhook; resolves when it is accepted, and not when it is handled. */
  async deliver(update: BotUpdate | undefined): Promise<void> {
    if (update) await this.#take([update]);
  }

  #report(signal: AbortSignal, failure: BotFailure | undefined): void {
    if (signal.aborted) return;
    const { log } = this.#needs;
    if (failure && failure.kind !== this.#failure?.kind)
      log.warn('the bot does not work', { reason: failure.message });
    if (!failure && this.#failure) log.info('the bot works again', {});
    this.#failure = failure;
    this.#state = failure ? 'failing' : 'running';
  }
}
