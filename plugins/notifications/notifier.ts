// Brings events to channels: who wants it, in which language, and at once or summed up.
import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Clock,
  type Contributed,
  type LiveSettings,
  type Log,
  type PluginContext,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import { ChannelCaller } from './channels/channel-caller.js';
import { ChannelQueue } from './channels/channel-queue.js';
import {
  Channels,
  type ClientRecipient,
  type Notification,
  type Occurrence,
  type Severity,
} from './contract.js';
import { type Delivery, problemOf } from './deliveries/delivery.js';
import { afterDeliveriesStored, type DeliveryStore } from './deliveries/delivery-store.js';
import { boundedData, type DeclaredEvent, type DeclaredEvents } from './events/declared-events.js';
import { FloodGuard, type Summary } from './flood/flood-guard.js';
import { QuietKeys } from './flood/quiet-keys.js';
import type { notificationSettings } from './settings.js';
import type { Rendered, TextRenderer } from './texts/text-renderer.js';

export interface Outcome {
  readonly channel: string;
  readonly plugin: string;
  readonly delivered: boolean;
  /** empty when it was delivered */
  readonly reason: string;
}
type Facts = Pick<Notification, 'event' | 'severity' | 'data' | 'isSummary'>;

export class Notifier {
  readonly #settings: LiveSettings<typeof notificationSettings>;
  readonly #contributions: PluginContext['contributions'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  readonly #events: DeclaredEvents;
  readonly #texts: TextRenderer;
  readonly #store: DeliveryStore;
  readonly #quiet = new QuietKeys();
  readonly #flood: FloodGuard<DeclaredEvent>;
  /** who wants an event, by its name; asked again every second */
  readonly #wanting = new Map<string, readonly ChannelQueue[]>();
  /** Attempts and the writes after them are not part of the write that stored the notifications. */
  readonly #detached = new AsyncResource('Notifier');
  queues: readonly ChannelQueue[] = [];

  constructor(needs: {
    settings: LiveSettings<typeof notificationSettings>;
    contributions: PluginContext['contributions'];
    clock: Clock;
    log: Log;
    signal: AbortSignal;
    events: DeclaredEvents;
    texts: TextRenderer;
    store: DeliveryStore;
  }) {
    this.#settings = needs.settings;
    this.#contributions = needs.contributions;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#signal = needs.signal;
    this.#events = needs.events;
    this.#texts = needs.texts;
    this.#store = needs.store;
    this.#flood = new FloodGuard<DeclaredEvent>(
      needs.clock,
      (event, severity, occurrence) => this.#send(event, severity, occurrence),
      (event, severity, summary) => this.#sendSummary(event, severity, summary),
    );
  }

  /** What was not delivered when the panel stopped is tried again. */
  async start(): Promise<void> {
    await this.#store.start();
    const waiting = await this.#store.countWaiting();
    this.queues = this.#contributions(Channels).map((entry) => {
      const caller = new ChannelCaller(entry, this.#signal);
      return new ChannelQueue({
        caller,
        store: this.#store,
        clock: this.#clock,
        log: this.#log,
        stop: this.#signal,
        inLog: waiting.get(caller.name) ?? 0,
      });
    });
  }

  /** This panel sends from now on; before, another one did. */
  async lead(): Promise<void> {
    const waiting = await this.#store.countWaiting();
    for (const queue of this.queues) queue.begin(waiting.get(queue.caller.name) ?? 0);
  }

  /** Does what is due; called every second. */
  async tick(): Promise<void> {
    this.forgetWishes();
    this.#flood.tick();
    for (const queue of this.queues) queue.kick();
    await this.#store.flush();
  }

  /** Call it when settings have changed. */
  forgetWishes(): void {
    this.#wanting.clear();
  }

  /** Stores what is held back, and how far attempts have come. */
  async stop(): Promise<void> {
    this.#flood.tick(true);
    await Promise.all(this.queues.map((queue) => queue.settled()));
    await this.#store.flush();
  }

  /** Takes a payload of an event's hook. */
  async take(entry: Contributed<DeclaredEvent>, payload: unknown): Promise<void> {
    const { value: event } = entry;
    if (this.#wants(event).length === 0 && !this.#reachesClients()) return;
    const slice = new TimeSlice();
    for (const occurrence of this.#events.describe(entry, payload)) {
      if (slice.isOver) await slice.next();
      // What nobody wants is not noted: a channel that is switched on gets the next one.
      if (!occurrence.client && this.#wants(event).length === 0) continue;
      if (!this.#isNew(event, occurrence)) continue;
      if (occurrence.client) this.#push(this.#toClient(event, occurrence, occurrence.client));
      else this.#flood.take(event, occurrence.severity ?? event.severity, occurrence);
    }
  }

  /** Stores notifications with the write that they are about; they are sent after its commit. */
  async takeWithin(tx: Tx, entry: Contributed<DeclaredEvent>, payload: unknown): Promise<void> {
    const { value: event } = entry;
    const deliveries: Delivery[] = [];
    const slice = new TimeSlice();
    for (const occurrence of this.#events.describe(entry, payload)) {
      if (slice.isOver) await slice.next();
      if (!this.#isNew(event, occurrence)) continue;
      if (occurrence.client) deliveries.push(...this.#toClient(event, occurrence, occurrence.client));
      else deliveries.push(...this.#toAdmins(event, occurrence));
    }
    if (deliveries.length === 0) return;
    await this.#store.insert(tx, deliveries);
    tx.after(afterDeliveriesStored, { deliveries });
  }

  /** Queues what was stored within a write. */
  stored(deliveries: readonly Delivery[]): void {
    this.#detached.runInAsyncScope(() => {
      for (const delivery of deliveries)
        this.queues.find(({ caller }) => caller.name === delivery.channel)?.push(delivery, true);
    });
  }

  /** The panel's queue of events was full, so some are missing. */
  missed({ value: event }: Contributed<DeclaredEvent>): void {
    const facts = { event: event.name, severity: event.severity, data: { isIncomplete: true } };
    this.#push(
      this.#deliveries(this.#wants(event), facts, (language) =>
        this.#texts.own('missed', language, { title: this.#texts.event(event, language, {}).title }),
      ),
    );
  }

  /** Makes one attempt over every enabled channel, ahead of queued notifications. */
  async test(): Promise<Outcome[]> {
    const attempt = async ({ caller }: ChannelQueue): Promise<Outcome> => {
      const facts = { event: 'test', severity: 'info', data: {} } as const;
      const notification = this.#make(facts, this.#texts.own('test', caller.language()), randomUUID());
      const reason = await caller.attempt(notification).then(() => '', problemOf);
      return { channel: caller.name, plugin: caller.plugin, delivered: reason === '', reason };
    };
    return Promise.all(this.queues.filter(({ caller }) => caller.isOn()).map(attempt));
  }

  #reachesClients(): boolean {
    return this.#settings.read().notifyClients && this.queues.some(({ caller }) => caller.reachesClients);
  }

  /** Admins and each client have keys of their own: what one of them was told says nothing to the others. */
  #isNew({ name }: DeclaredEvent, { quietKey, client }: Occurrence): boolean {
    return (
      quietKey === undefined ||
      this.#quiet.passes(`${name} ${client?.id ?? ''} ${quietKey}`, this.#clock.now())
    );
  }

  #wants(event: DeclaredEvent): readonly ChannelQueue[] {
    let found = this.#wanting.get(event.name);
    if (!found) {
      const { notificationEvents } = this.#settings.read();
      found = this.queues.filter(
        ({ caller }) => caller.isOn() && this.#events.isIn(caller.events() ?? notificationEvents, event),
      );
      this.#wanting.set(event.name, found);
    }
    return found;
  }

  #send(event: DeclaredEvent, severity: Severity, occurrence: Occurrence): void {
    this.#push(this.#toAdmins(event, occurrence, severity));
  }

  #toAdmins(
    event: DeclaredEvent,
    { args, data, severity = event.severity }: Occurrence,
    known: Severity = severity,
  ): Delivery[] {
    const facts = { event: event.name, severity: known, data: boundedData(data) };
    return this.#deliveries(this.#wants(event), facts, (language) =>
      this.#texts.event(event, language, args),
    );
  }

  #toClient(
    event: DeclaredEvent,
    { args, data, severity = event.severity }: Occurrence,
    client: ClientRecipient,
  ): Delivery[] {
    if (!this.#settings.read().notifyClients || client.messengerId === 0) return [];
    const facts = { event: event.name, severity, data: boundedData(data) };
    const queues = this.queues.filter(({ caller }) => caller.reachesClients && caller.isOn());
    return this.#deliveries(queues, facts, (language) => this.#texts.event(event, language, args), client);
  }

  #sendSummary(
    event: DeclaredEvent,
    severity: Severity,
    { count, from, to, latest, samples }: Summary,
  ): void {
    const facts = {
      event: event.name,
      severity,
      data: boundedData({ count, from, to, samples }),
      isSummary: true as const,
    };
    const render = (language: string): Rendered => {
      const { title, text } = this.#texts.event(event, language, latest.args);
      const times = { from: new Date(from), to: new Date(to) };
      return this.#texts.own('summary', language, { title, count, latest: text, ...times });
    };
    this.#push(this.#deliveries(this.#wants(event), facts, render));
  }

  #deliveries(
    queues: readonly ChannelQueue[],
    facts: Facts,
    render: (language: string) => Rendered,
    client?: ClientRecipient,
  ): Delivery[] {
    const id = randomUUID();
    const byLanguage = new Map<string, Notification>();
    return queues.map(({ caller }): Delivery => {
      const language = caller.language();
      let notification = byLanguage.get(language);
      if (!notification) byLanguage.set(language, (notification = this.#make(facts, render(language), id)));
      return {
        id: this.#store.newId(),
        channel: caller.name,
        notification,
        client,
        state: 'waiting',
        attempts: 0,
        queuedAt: notification.at,
        attemptedAt: 0,
        nextAt: 0,
        problem: '',
      };
    });
  }

  #push(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries)
      this.queues.find(({ caller }) => caller.name === delivery.channel)?.push(delivery);
  }

  #make(facts: Facts, { title, text }: Rendered, id: string): Notification {
    return Object.freeze({ id, at: this.#clock.now(), ...facts, title, text });
  }
}
