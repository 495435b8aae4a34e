// The plugin contract: one declaration, checked by the compiler, that the kernel can read before it runs any code.
import type { Principal } from '../auth/principal.js';
import type { Command } from '../command/command.js';
import type { Configured, Sources, Variables } from '../../schema/variable.js';
import type { Contributed, Contribution, ExtensionPoint, Provision, Used, Uses } from '../container/token.js';
import type { Migration } from '../database/migrate.js';
import type { TableModels, Tables } from '../../tables/table.js';
import type { Database } from '../database/database.js';
import type { AnyHook, Tap } from '../hooks/kinds.js';
import type { Hooks } from '../hooks/registry.js';
import type { Route } from '../http/route.js';
import type { Clock } from '../../timing/clock.js';
import type { Job } from '../jobs/schedule.js';
import type { Log } from '../log/log.js';
import type { SettingGroup } from '../../schema/setting.js';
import { type LiveSettings, SettingsSource } from './settings.js';

/** Number of the kernel's contract; a plugin for another number is not started. */
export const KERNEL_API = 1;

/** Available to every plugin; anything else must be listed in `uses`. */
export interface PluginContext<C = unknown, T = unknown> {
  readonly name: string;
  /** the plugin as the author of its own changes */
  readonly self: Principal;
  readonly log: Log;
  /** boot settings of the plugin, from the environment or the config file */
  readonly config: C;
  /** source of each of them: a value that an admin sets in the panel ranks between environment and file */
  readonly configSource: Sources<C>;
  readonly db: Database;
  readonly tables: T;
  /** to call its own hooks */
  readonly hooks: Hooks;
  readonly clock: Clock;
  /** aborts when the kernel stops */
  readonly signal: AbortSignal;
  /** folder of the whole panel's data */
  readonly dataDirectory: string;
  /** Entries that others added to an extension point of this plugin; complete from `start` on. */
  readonly contributions: <X>(point: ExtensionPoint<X>) => readonly Contributed<X>[];
}

declare const needs: unique symbol;
declare const makes: unique symbol;

/** A class that is built once per plugin; the compiler checks that the plugin has everything its constructor destructures. */
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

type WithSettings<G> = [keyof G] extends [never] ? unknown : { readonly settings: LiveSettings<G> };
/** Everything that a plugin's own code may destructure by name. */
export type Scope<C, U, T, S, G> = PluginContext<C, T> & Used<U> & Instances<S> & WithSettings<G>;

interface MissingFromPlugin<Missing> {
  readonly 'this class asks for something the plugin does not have': Missing;
}
type Wired<S, Has> = {
  readonly [K in keyof S]: Has extends NeedsOf<S[K]>
    ? S[K]
    : MissingFromPlugin<Exclude<keyof NeedsOf<S[K]>, keyof Has>>;
};

/** Parts of a declaration that are used as they are. */
interface Identity {
  readonly name: string;
  readonly version: string;
  /** number of the kernel contract that it was written for */
  readonly api: number;
  /** one sentence for display */
  readonly about: string;
}
/** The functions of a plugin; each receives everything that the plugin has. */
interface Functions<S> {
  readonly provides: (scope: S) => readonly Provision[];
  readonly contributes: (scope: S) => readonly Contribution[];
  readonly taps: (scope: S) => readonly Tap[];
  readonly routes: (scope: S) => readonly Route[];
  readonly jobs: (scope: S) => readonly Job[];
  /** Commands for the command line. Also called before anything is built, to list them, so it may only declare. */
  readonly commands: (scope: S) => readonly Command[];
  readonly start: (scope: S) => void | Promise<void>;
  readonly stop: (scope: S) => void | Promise<void>;
}

export interface Plugin extends Identity, Functions<never> {
  readonly essential: boolean;
  /** a third-party plugin: it may use only names of its own, and its mistakes are its own */
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
  /** the panel cannot start without it */
  readonly essential?: boolean;
  /** tokens of other plugins, under local names */
  readonly uses?: U;
  /** its own hooks, which it calls and others tap: those of its contract and private ones */
  readonly hooks?: readonly AnyHook[];
  /** boot settings; settings that can wait for the database belong into `settings` */
  readonly config?: C;
  /** settings that admins change at run time; its functions and services receive them as `settings` */
  readonly settings?: G;
  readonly tables?: T;
  readonly migrations?: readonly Migration[];
  /** built once, without side effects; I/O begins in `start` */
  readonly services?: S & Wired<S, Scope<Configured<C>, U, TableModels<T>, S, G>>;
}

type Empty = Readonly<Record<never, never>>;
const emptyList = () => [];
const noop = () => undefined;
export const hasStart = ({ start }: Plugin): boolean => start !== noop;
const functions: Functions<never> = {
  provides: emptyList,
  contributes: emptyList,
  taps: emptyList,
  routes: emptyList,
  jobs: emptyList,
  commands: emptyList,
  start: noop,
  stop: noop,
};

export function definePlugin<
  const C extends Variables = Empty,
  const U extends Uses = Empty,
  const T extends Tables = Empty,
  const S extends Services = Empty,
  const G extends SettingGroup = Empty,
>(declared: Declared<C, U, T, S, G>): Plugin {
  const { name, settings, uses } = declared;
  if (settings && uses && 'settings' in uses)
    throw new Error(`plugin ${name} has "settings" in its uses; that name is reserved for its own settings`);
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
