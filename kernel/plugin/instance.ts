// One plugin at run time: its container, its queue of events, its faults.
import { asFunction, asValue, createContainer, InjectionMode } from 'awilix/browser'; // without loading of files: 30 ms
import type { Token, Uses } from '../container/token.js';
import { storageFailure, kernelErrors } from '../errors/errors.js';
import { EventQueue } from '../../timing/event-queue.js';
import type { Clock } from '../../timing/clock.js';
import type { Log } from '../log/log.js';
import type { Plugin, PluginContext } from './define.js';
import { checkTokens, PluginError } from './error.js';
import type { LateStart, Owner } from './owner.js';
import { SettingsSource } from './settings.js';

const FAULTS_ALLOWED = 20;
const FAULT_WINDOW_MS = 300_000;
const HOUR_MS = 3_600_000;

export type State =
  /** its services exist; a built-in plugin keeps this state while it starts */
  | 'built'
  /** waits for its late start, or is in it */
  | 'starting'
  | 'running'
  /** switched off after repeated faults, until the next start */
  | 'faulty'
  /** could not start; none of its code is called */
  | 'failed'
  | 'stopped';

export class PluginInstance implements Owner {
  readonly plugin: Plugin;
  readonly name: string;
  readonly about: string;
  readonly essential: boolean;
  readonly outside: boolean;
  readonly log: Log;
  readonly queue: EventQueue;
  readonly #clock: Clock;
  readonly #faults: number[] = [];
  readonly #saidSlow = new Map<string, number>();
  #scope: object = {};
  /** parts of its work that are skipped, with the reason */
  readonly skippedWork = new Map<string, string>();
  state: State = 'built';
  /** why it failed; a sentence that names the plugin */
  #failure = '';
  lateStart: LateStart | undefined;

  constructor(plugin: Plugin, log: Log, clock: Clock) {
    this.plugin = plugin;
    this.name = plugin.name;
    this.about = plugin.about;
    this.essential = plugin.essential;
    this.outside = plugin.outside ?? false;
    this.log = log;
    this.#clock = clock;
    this.queue = new EventQueue(
      (error) => this.fault('missed events', error),
      () => this.log.warn('the event queue of the plugin is full; dropping events', {}),
    );
  }

  /** Whether its taps are skipped and its routes answer 503. */
  get isOff(): boolean {
    return this.state === 'faulty' || this.state === 'starting' || this.state === 'failed';
  }

  /** Why it is off; empty while it is not. */
  get offReason(): string {
    if (this.state === 'starting') return `the plugin ${this.name} is still starting; try again in a moment`;
    if (this.state === 'failed') return this.#failure;
    return this.isOff ? `the plugin ${this.name} is switched off after repeated faults` : '';
  }

  fail(reason: string): void {
    this.state = 'failed';
    this.#failure = reason;
  }

  /** Builds the services in a container of their own: scopes of one container would show each plugin the registrations of others. All services are resolved now, so that wrong wiring fails the boot. */
  build(context: PluginContext, resolve: (wanted: Token<unknown>) => object | undefined): void {
    const container = createContainer({ injectionMode: InjectionMode.PROXY, strict: true });
    const values: Record<string, unknown> = { ...context, ...this.#used(this.plugin.uses, context, resolve) };
    const names = [...Object.keys(values), ...Object.keys(this.plugin.services)];
    for (const [key, value] of Object.entries(values)) container.register(key, asValue(value));
    for (const [key, { build }] of Object.entries(this.plugin.services)) {
      if (key in values)
        throw new PluginError(
          `plugin ${this.name} has a service "${key}"; the kernel or its uses already provide that name`,
        );
      const make = (parts: object) =>
        new (build as new (needs: object) => object)(this.#needsOf(key, parts, names));
      container.register(key, asFunction(make).singleton());
    }
    this.#scope = Object.fromEntries(names.map((key) => [key, container.resolve(key)]));
  }

  /** What a class receives: says so when it asks for something that the plugin does not have. */
  #needsOf(service: string, parts: object, names: readonly string[]): object {
    const get = (_: object, key: string | symbol): unknown => {
      if (names.includes(String(key))) return Reflect.get(parts, key);
      const problem = `the service ${service} asks for "${String(key)}", which the plugin does not have`;
      throw new PluginError(`plugin ${this.name}: ${problem}; it has: ${names.join(', ')}`);
    };
    return new Proxy(parts, { get });
  }

  #used(
    uses: Uses,
    context: PluginContext,
    resolve: (wanted: Token<unknown>) => object | undefined,
  ): Record<string, unknown> {
    const entries = Object.entries(uses).map(([key, wanted]) => {
      if (key in context)
        throw new PluginError(
          `plugin ${this.name} has "${key}" in its uses; the kernel already provides that name`,
        );
      const value = resolve(wanted.kind === 'maybe' ? wanted.token : wanted);
      return [
        key,
        wanted === SettingsSource
          ? (value as SettingsSource | undefined)?.declare(this.plugin, this.plugin.settings)
          : value,
      ];
    });
    checkTokens(this.plugin, (wanted) => !resolve(wanted) && `${wanted.owner} does not provide it`);
    return Object.fromEntries(entries) as Record<string, unknown>;
  }

  /** The argument of the plugin's own functions. */
  get scope(): never {
    return this.#scope as never;
  }

  /** Records a failure of this plugin; too many in a short time switch it off until the next start. A failure of the disk or the database is not its fault. */
  fault(where: string, error: unknown): void {
    const storage = storageFailure(error);
    if (storage === 'disk') this.log.error('the disk is not writable', { where, error });
    if (storage) return;
    this.log.error('plugin fault', { where, error });
    const now = this.#clock.now();
    this.#faults.push(now);
    while ((this.#faults[0] ?? now) < now - FAULT_WINDOW_MS) this.#faults.shift();
    if (this.#faults.length < FAULTS_ALLOWED || this.state !== 'running' || this.plugin.essential) return;
    this.state = 'faulty';
    this.log.error('plugin switched off after repeated faults; its routes answer 503 until the next start', {
      faults: this.#faults.length,
    });
  }

  /** With an empty reason it takes part again. */
  leaveOut(work: string, reason: string): void {
    if (reason === (this.skippedWork.get(work) ?? '')) return;
    if (reason === '') {
      this.skippedWork.delete(work);
      this.log.info('the additions of the plugin are used again', { where: work });
    } else {
      this.skippedWork.set(work, reason);
      this.fault(work, new Error(reason));
    }
  }

  /** Warns when the plugin delays others: once an hour, or the log would hold nothing else. */
  slow(where: string, ms: number): void {
    const now = this.#clock.now();
    if (now < (this.#saidSlow.get(where) ?? -HOUR_MS) + HOUR_MS) return;
    this.#saidSlow.set(where, now);
    this.log.warn('a plugin delays others', { where, ms: Math.round(ms) });
  }

  /** The object that others get for a token of this plugin: calls are refused while the plugin is off. */
  facade(value: object): object {
    const bound = new Map<PropertyKey, unknown>();
    // The target is a stand-in: a proxy of a frozen object may return only the object's own members.
    return new Proxy(Object.create(Object.getPrototypeOf(value) as object | null) as object, {
      has: (_, key) => key in value,
      set: () => false,
      get: (_, key) => {
        if (this.isOff) throw kernelErrors.PLUGIN_OFF(this.offReason);
        const known = bound.get(key);
        if (known !== undefined) return known;
        const member: unknown = Reflect.get(value, key, value);
        if (typeof member !== 'function') return member;
        const method: unknown = member.bind(value);
        bound.set(key, method);
        return method;
      },
    });
  }
}

/** A third-party plugin that clashes with a built-in one is at fault. */
export const thirdPartyLast = (instances: readonly PluginInstance[]): PluginInstance[] =>
  instances.toSorted((a, b) => Number(a.outside) - Number(b.outside));
