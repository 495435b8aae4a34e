// Live settings: declared by the plugin that means something by them, kept and served in one place.
import {
  after,
  draft,
  during,
  extensionPoint,
  filter,
  guard,
  jsonRecord,
  type Principal,
  type SettingGroup,
  type SettingValues,
  token,
  type Tx,
} from '../../kernel/index.js';
import { groupProblem } from './group-problem.js';

export { panelSettings } from './panel-settings.js';

/** A group as a plugin adds it; a value in `pinned` comes from the environment, wins over the database and cannot be changed. */
export interface SettingGroupEntry {
  readonly group: SettingGroup;
  readonly pinned?: Readonly<
    Record<string, { readonly value: unknown; readonly variable: string } | undefined>
  >;
  /** From the config file: what holds as long as no admin has changed it. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
/** Groups of settings that variables or the config file have a say in. All others are declared as `settings` in definePlugin. */
export const SettingGroups = extensionPoint<SettingGroupEntry>('settings', 'SettingGroups', groupProblem);

/** Hosts that a plugin knows the panel's machine by. They are allowed as soon as the setting `allowedHosts` limits the hosts. */
export interface PanelHost {
  /** names and addresses */
  readonly hosts?: readonly string[];
  /** settings that hold one, or are empty */
  readonly settings?: readonly string[];
}
/** Further hosts under which the panel answers when hosts are limited. */
export const PanelHosts = extensionPoint<PanelHost>('settings', 'PanelHosts', ({ hosts, settings }) => {
  const areTexts = (value: unknown) =>
    value === undefined || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
  return areTexts(hosts) && areTexts(settings) ? undefined : 'hosts and settings are lists of text';
});

export interface SettingsApi {
  /** Effective values of a plugin's settings; the object is replaced at every change, never mutated. */
  read<G extends SettingGroup>(group: G): SettingValues<G>;
  /** Changes settings within a write of the caller's; no guard is asked. Throws where the environment holds one of them. */
  change<G extends SettingGroup>(
    tx: Tx,
    group: G,
    values: Partial<SettingValues<G>>,
    who: Principal,
  ): Promise<void>;
}
export const Settings = token<SettingsApi>('settings', 'Settings');

/** Who wants settings changed, over the API. */
export interface SettingsCaller extends Principal {
  readonly ip: string;
  /** hosts under which the call came: of its own and of a trusted proxy, canonical */
  readonly hosts: readonly string[];
}
/** What follows from changes: a tap returns them with others added or taken out. They are valid, and nobody has been asked yet. */
export const settingChanges = filter<Readonly<Record<string, unknown>>, undefined>(
  'settings/settingChanges',
  jsonRecord(),
);
/** Values that will change, before they are written; for rules across fields. `values` are all that will hold, `sent` is the body as it came. */
export const beforeSettingsSave = guard<{
  readonly changes: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly who: SettingsCaller;
}>('settings/beforeSettingsSave');
export interface SettingChange {
  readonly name: string;
  /** blank for a secret, like `after` */
  readonly before: unknown;
  readonly after: unknown;
  readonly secret: boolean;
}
/** In the transaction that writes settings, whoever changes them. */
export const duringSettingsSave = during<{
  readonly changes: readonly SettingChange[];
  readonly who: Principal;
}>('settings/duringSettingsSave');
/** `read` answers with the new values from here on. */
export const afterSettingsSave = after<{ readonly keys: ReadonlySet<string>; readonly who: Principal }>(
  'settings/afterSettingsSave',
);
/** What a caller that changed settings is told besides; added to `obj` of the reply, after the changes were saved. */
export const composeSettingsReply = draft<
  Readonly<Record<string, unknown>>,
  { readonly changes: Readonly<Record<string, unknown>>; readonly who: SettingsCaller }
>('settings/composeSettingsReply', jsonRecord());
/** What pages and programs ask for before they show anything; plugins add what they know. */
export const composeDefaultSettings = draft<Readonly<Record<string, unknown>>, { readonly host: string }>(
  'settings/composeDefaultSettings',
  jsonRecord(),
);
