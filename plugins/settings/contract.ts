// Live settings: declared by the plugin that means something by them, kept and served in one place.
import { after, extensionPoint, guard, type Static, token } from '../../kernel/index.js';
import type { Setting } from './setting.js';

export { panelSettings } from './panel-settings.js';
export { setting, type Setting } from './setting.js';

export type SettingGroup = Readonly<Record<string, Setting>>;
export type SettingValues<G> = { readonly [K in keyof G]: G[K] extends Setting<infer S> ? Static<S> : never };

/** A group as a plugin adds it; a value in `pinned` comes from the environment, wins over the database and cannot be changed. */
export interface SettingGroupEntry {
  readonly group: SettingGroup;
  readonly pinned?: Readonly<Record<string, { readonly value: unknown; readonly variable: string } | undefined>>;
  /** From the config file: what holds as long as no admin has changed it. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
export const SettingGroups = extensionPoint<SettingGroupEntry>('settings', 'SettingGroups');

export interface SettingsApi {
  /** Effective values of a group that was added to SettingGroups; the object is replaced at every change, never mutated. */
  read<G extends SettingGroup>(group: G): SettingValues<G>;
}
export const Settings = token<SettingsApi>('settings', 'Settings');

/** Values that will change, before they are written; for rules across fields. */
export const beforeSettingsSave = guard<{ readonly changes: Readonly<Record<string, unknown>>; readonly values: Readonly<Record<string, unknown>> }>('settings/beforeSettingsSave');
/** `read` answers with the new values from here on. */
export const afterSettingsSave = after<{ readonly keys: ReadonlySet<string> }>('settings/afterSettingsSave');
