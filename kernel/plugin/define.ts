// The plugin contract: one declaration, checked by the compiler, that the kernel can read before it runs anything.
import type { Principal } from '../auth/principal.js';
import type { Command } from '../command/command.js';
import type { Configured, Sources, Variables } from '../config/variable.js';
import type { Contributed, Contribution, ExtensionPoint, Provision, Used, Uses } from '../container/token.js';
import type { Migration } from '../database/migrate.js';
import type { TableModels, Tables } from '../../tables/table.js';
import type { Database } from '../database/writer.js';
import type { AnyHook, Tap } from '../hooks/kinds.js';
import type { Hooks } from '../hooks/registry.js';
import type { Route } from '../http/route.js';
import type { Clock } from '../../timing/clock.js';
import type { Job } from '../jobs/schedule.js';
import type { Log } from '../log/log.js';
import type { SettingGroup } from '../../schema/setting.js';
import { type LiveSettings, SettingsSource } from './settings.js';

/** Number of the kernel's contract; a plugin written for another one is not started. */
export const KERNEL_API = 1;

/** What every plugin sees; nothing else is reachable but what it names in `uses`. */
export interface PluginContext<C = unknown, T = unknown> {
  readonly name: string;
  /** the plugin, as the one who makes changes of its own accord */
  readonly self: Principal;
  readonly log: Log;
  /** its boot settings, from the environment or the config file */
  readonly config: C;
  /** where each of them comes from: what an admin changes in the panel stands between environment and file */
  readonly configSource: Sources<C>;
  readonly db: Database;
  readonly tables: T;
  /** to call its own hooks */
  readonly hooks: Hooks;
  readonly clock: Clock;
  /** aborted when the kernel stops */
  readonly signal: AbortSignal;
  /** folder of the whole panel's data */
  readonly dataDirectory: string;
  /** Entries that others added to a point of this plugin; complete from `start` on. */
  readonly contributions: <X>(point: ExtensionPoint<X>) => readonly Contributed<X>[];
}

declare const needs: unique symbol;
declare const makes: unique symbol;

/** A class that is built once per plugin; what its constructor destructures is checked against what the plugin has. */
export interface Singleton<I = unknown, N = never> {
  readonly build: new (needs: never) => I;
  readonly [makes]?: I;
  readonly [needs]?: (needed: N) => void;
}
export const singleton = <I, N>(build: new (needs: N) => I): Singleton<I, N> => ({
  build: build as unknown as new (needs: never) => I,
});

export type Services = Readonly<Record<string, Singleton>>;
export type Instances<S> = {
  readonly [K in keyof S]: S[K] extends { readonly [makes]?: infer I } ? I : never;
};
type NeedsOf<X> = X extends { readonly [needs]?: (needed: infer N) => void } ? N : never;

type Settled<G> = [keyof G] extends [never] ? unknown : { readonly settings: LiveSettings<G> };
/** All that a plugin's own code may ask for by name. */
export type Scope<C, U, T, S, G> = PluginContext<C, T> & Used<U> & Instances<S> & Settled<G>;

interface MissingFromPlugin<Missing> {
  readonly 'this class asks for something the plugin does not have': Missing;
}
type Wired<S, Has> = {
  readonly [K in keyof S]: Has extends NeedsOf<S[K]>
    ? S[K]
    : MissingFromPlugin<Exclude<keyof NeedsOf<S[K]>, keyof Has>>;
};

/** What stands in a declaration as it is. */
interface Identity {
  readonly name: string;
  readonly version: string;
  /** kernel contract it was written for */
  readonly api: number;
  /** one sentence for people */
  readonly about: string;
}
/** The functions of a plugin; each is given all that the plugin has. */
interface Functions<S> {
  readonly provides: (scope: S) => readonly Provision[];
  readonly contributes: (scope: S) => readonly Contribution[];
  readonly taps: (scope: S) => readonly Tap[];
  readonly routes: (scope: S) => readonly Route[];
  readonly jobs: (scope: S) => readonly Job[];
  /** of the command line; called before anything is built as well, to list them, so it only declares */
  readonly commands: (scope: S) => readonly Command[];
  readonly start: (scope: S) => void | Promise<void>;
  readonly stop: (scope: S) => void | Promise<void>;
}

export interface Plugin extends Identity, Functions<never> {
  readonly essential: boolean;
  /** not of this tree: it keeps to names of its own, and its mistakes are its own */
  readonly outside?: boolean;
  readonly uses: Uses;
  readonly hooks: readonly AnyHook[];
  readonly config: Variables;
  readonly settings: SettingGroup;
  readonly tables: Tables;
  readonly migrations: readonly Migration[];
  readonly services: Services;
}

interface Declared<
  C extends Variables,
  U extends Uses,
  T extends Tables,
  S extends Services,
  G extends SettingGroup,
> extends Identity,
    Partial<Functions<Scope<Configured<C>, U, TableModels<T>, S, G>>> {
  /** the panel does not start without it */
  readonly essential?: boolean;
  /** tokens of other plugins, under the names this plugin wants */
  readonly uses?: U;
  /** its own, which it calls and others tap; those of its contract and those that only it knows */
  readonly hooks?: readonly AnyHook[];
  /** boot settings; what can wait for the database belongs into settings */
  readonly config?: C;
  /** what admins change in the running panel; its functions and services have it as `settings` */
  readonly settings?: G;
  readonly tables?: T;
  readonly migrations?: readonly Migration[];
  /** built once, without side effects; I/O begins in `start` */
  readonly services?: S & Wired<S, Scope<Configured<C>, U, TableModels<T>, S, G>>;
}

type None = Readonly<Record<never, never>>;
const none = () => [];
const nothing = () => undefined;
/** Whether it does something in its start. */
export const hasStart = ({ start }: Plugin): boolean => start !== nothing;
const functions: Functions<never> = {
  provides: none,
  contributes: none,
  taps: none,
  routes: none,
  jobs: none,
  commands: none,
  start: nothing,
  stop: nothing,
};

export function definePlugin<
  const C extends Variables = None,
  const U extends Uses = None,
  const T extends Tables = None,
  const S extends Services = None,
  const G extends SettingGroup = None,
>(declared: Declared<C, U, T, S, G>): Plugin {
  const { name, settings, uses } = declared;
  if (settings && uses && 'settings' in uses)
    throw new Error(`plugin ${name} uses something as "settings", the name of its own settings`);
  return {
    essential: false,
    hooks: [],
    config: {},
    settings: {},
    tables: {},
    migrations: [],
    services: {},
    ...functions,
    ...declared,
    uses: { ...uses, ...(settings && { settings: SettingsSource }) },
  };
}
