// Live settings: declared by the plugins that use them, stored and served by this one.
import {
  after,
  draft,
  during,
  extensionPoint,
  filter,
  guard,
  jsonRecord,
  type Principal,
  type Schema,
  type SettingGroup,
  type SettingValues,
  token,
  type Tx,
} from '../../kernel/index.js';
import { groupProblem } from './group-problem.js';

export { errors as settingErrors } from './errors.js';
export { panelSettings, timeZoneOf } from './panel-settings.js';

/** A group that a plugin adds; a value in `pinned` comes from the environment, takes precedence over the database and cannot be changed. */
export interface SettingGroupEntry {
  readonly group: SettingGroup;
  readonly pinned?: Readonly<
    Record<string, { readonly value: unknown; readonly variable: string } | undefined>
  >;
  /** values of the config file, in force until an admin changes them */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
/** Groups of settings that environment variables or the config file can set. All other groups are declared as `settings` in definePlugin. */
export const SettingGroups = extensionPoint<SettingGroupEntry>('settings', 'SettingGroups', groupProblem);

/** A value with what sets it. */
export interface Configured<T> {
  readonly value: T;
  readonly source: 'environment' | 'file' | 'default';
}
/** What environment and config file say about the panel's listener; provided by the program around the kernel. */
export interface PanelListenerApi {
  readonly host: Configured<string>;
  readonly port: Configured<number>;
  readonly trustedProxies: Configured<readonly string[]>;
  /** The date until which the certificate of the panel's listener is valid, as text of RFC 3339; blank when it serves plain HTTP. */
  readonly certificateValidTo: () => string;
  /** Absolute paths of the certificate and its key; blank when it serves plain HTTP. */
  readonly certificateFiles: { readonly certificate: string; readonly key: string };
  /** Where these paths come from; `default` is the certificate of the settings, or one that the panel has ordered. */
  readonly certificateSource: Configured<string>['source'];
  /** Reads the files again at once; new connections get a new certificate, open ones keep theirs. */
  readCertificate(): Promise<void>;
  /** From now on, asks callers of the panel for a certificate of these authorities (PEM), and admits them without one too; blank: asks nobody. False when the panel serves plain HTTP. */
  askForCertificates(authorities: string): boolean;
}
export const PanelListener = token<PanelListenerApi>('panel', 'PanelListener');

/** A listener whose port and address are settings. They are checked when they change, and used from the next start on. */
export interface ListenerPort {
  readonly listener: string;
  /** name of the setting with the port */
  readonly setting: string;
  /** name of the setting with the address, which is empty for all */
  readonly addressSetting?: string;
}
/** The listeners whose ports and addresses are settings. */
export const ListenerPorts = extensionPoint<ListenerPort>(
  'settings',
  'ListenerPorts',
  ({ listener, setting, addressSetting = '' }) =>
    [listener, setting, addressSetting].every((name) => typeof name === 'string')
      ? undefined
      : 'it needs the names of a listener and its settings',
);

/** Settings that may have to wait for the next start of the panel; the reply to a change says so. */
export interface WaitingSettings {
  readonly settings: readonly string[];
  /** whether a change to this value waits */
  readonly waits: (value: unknown) => boolean;
}
/** Settings besides those of `ListenerPorts` that may have to wait for the next start. */
export const NextStartSettings = extensionPoint<WaitingSettings>(
  'settings',
  'NextStartSettings',
  ({ settings, waits }) =>
    Array.isArray(settings) &&
    settings.every((name) => typeof name === 'string') &&
    typeof waits === 'function'
      ? undefined
      : 'it needs names of settings and the function waits',
);

/** Ports of the panel: where its listeners are now, and where the settings put them at the next start. */
export interface ListenerPlacesApi {
  places(): readonly { readonly name: string; readonly port: number }[];
}
export const ListenerPlaces = token<ListenerPlacesApi>('settings', 'ListenerPlaces');

/** What `setting/update` takes beside settings, such as a code that confirms a change: schemas by key. The guard `beforeSettingsSave` reads them. */
export const UpdateKeys = extensionPoint<Readonly<Record<string, Schema>>>(
  'settings',
  'UpdateKeys',
  (keys) => (typeof keys === 'object' && keys !== null ? undefined : 'it needs schemas by key'),
);

/** A setting that means nothing without something that stays here, such as a secret: an export leaves it out, and so does an import. */
export interface NotTransferredSetting {
  readonly setting: string;
  /** why, for display: `it needs a secret` */
  readonly reason: string;
}
/** Settings that stay with this panel. */
export const NotTransferred = extensionPoint<NotTransferredSetting>(
  'settings',
  'NotTransferred',
  ({ setting, reason }) =>
    typeof setting === 'string' && typeof reason === 'string'
      ? undefined
      : 'it needs the name of a setting and a reason',
);

type Values = Readonly<Record<string, unknown>>;
/** Settings of which each caller has values of its own, which the contributing plugin stores. It also declares them, as settings. */
export interface OwnSettingsSource {
  /** their names */
  readonly settings: readonly string[];
  /** The values of this caller; within a write, those that the database has by then. */
  read(who: Principal, tx?: Tx): Promise<Values>;
  /**
   * Checks changes of this caller before anything is written, and returns what writes them, which runs in the transaction
   * of all changes; what that resolves with is added to the reply. Without a result there is nothing to change. `changes`
   * are valid values that differ, `values` all of these settings after the change, `sent` the request body.
   */
  prepare(save: {
    readonly changes: Values;
    readonly values: Values;
    readonly sent: Values;
    readonly who: SettingsCaller;
  }): Promise<((tx: Tx) => Promise<Values>) | undefined>;
}
/** Settings that are those of the caller. An export leaves them out. */
export const OwnSettings = extensionPoint<OwnSettingsSource>(
  'settings',
  'OwnSettings',
  ({ settings, read, prepare }, _, others) => {
    if (!Array.isArray(settings) || typeof read !== 'function' || typeof prepare !== 'function')
      return 'it needs names of settings, and the functions read and prepare';
    const taken = others.find(({ value }) => value.settings.some((name) => settings.includes(name)));
    return taken && `one of ${settings.join(', ')} is in the list already, by plugin ${taken.plugin}`;
  },
);

/** Further hosts of the panel's machine. They are allowed in addition to those of the setting `allowedHosts`, once it limits the hosts. */
export interface PanelHost {
  /** names and addresses */
  readonly hosts?: readonly string[];
  /** names of settings that hold a host, or nothing */
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
  /** Changes settings within the caller's write; no guard runs. Throws if the environment sets one of them. */
  change<G extends SettingGroup>(
    tx: Tx,
    group: G,
    values: Partial<SettingValues<G>>,
    who: Principal,
  ): Promise<void>;
}
export const Settings = token<SettingsApi>('settings', 'Settings');

/** The edits of `setting/update`, with the same checks. Do not call it inside a write. */
export interface SettingsEditsApi {
  /** The value in force, whether it is secret, and the variable that sets it in the environment; undefined for an unknown name. */
  known(
    name: string,
  ):
    | { readonly value: unknown; readonly secret: boolean; readonly variable?: string | undefined }
    | undefined;
  /** What an update would write, after all checks. Rejects as an update does, with issues that name the settings. */
  plan(
    values: Readonly<Record<string, unknown>>,
    who: SettingsCaller,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Changes all of them or none; resolves with the names of those that have another value now. */
  update(values: Readonly<Record<string, unknown>>, who: SettingsCaller): Promise<readonly string[]>;
}
export const SettingsEdits = token<SettingsEditsApi>('settings', 'SettingsEdits');

/** What settings would do if they were saved: for previews. Nothing is stored. */
export interface SettingsTrialApi {
  /** A setting by its name or its alias, with the value in force; undefined for an unknown one. */
  known(name: string):
    | {
        readonly name: string;
        readonly plugin: string;
        readonly secret: boolean;
        readonly value: unknown;
      }
    | undefined;
  /** Those of these values that differ from the values in force, in the form of `setting/update`. Each is checked by its schema; throws KERNEL_INVALID or PINNED with issues that name the settings. No guard runs. */
  differing(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Returns what `work` returns while all plugins read these values, which `differing` returned. `work` is synchronous, and keeps nothing of what it has read: a promise is refused. */
  readingAs<T>(values: Readonly<Record<string, unknown>>, work: () => T): T;
}
export const SettingsTrial = token<SettingsTrialApi>('settings', 'SettingsTrial');

/** A setting as its plugin declares it, in the form of `setting/update`. */
export interface DeclaredSetting {
  readonly name: string;
  readonly plugin: string;
  /** with its description and annotations; of a secret, it takes a blank text, which means unchanged */
  readonly schema: Schema;
  /** value of a fresh panel; undefined for a generated one, and for a secret */
  readonly initial: unknown;
  /** of a secret: the names that say whether it is set, in what is shown, and that clear it, in what is sent */
  readonly secret?: { readonly flag: string; readonly clear: string };
}
/** The settings of all plugins, for forms. Read it when all plugins are built. */
export interface DeclaredSettingsApi {
  list(): readonly DeclaredSetting[];
}
export const DeclaredSettings = token<DeclaredSettingsApi>('settings', 'DeclaredSettings');

/** Who this panel is to other panels. */
export interface PanelIdentityApi {
  /** A UUID, generated at the first start; it stays over restarts and upgrades. Read it from the start of your plugin on. */
  readonly guid: string;
}
export const PanelIdentity = token<PanelIdentityApi>('settings', 'PanelIdentity');

/** The caller that changes settings over the API. */
export interface SettingsCaller extends Principal {
  readonly ip: string;
  /** hosts under which the call came: of its own and of a trusted proxy, canonical */
  readonly hosts: readonly string[];
}
/** Derives changes from changes: a tap adds or removes some. They are valid, and no guard has run yet. */
export const settingChanges = filter<Readonly<Record<string, unknown>>, undefined>(
  'settings/settingChanges',
  jsonRecord(),
);
/** Runs before changes are written, for rules across fields. `values` are all values after the change, `sent` is the request body. */
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
/** Runs in the transaction that writes settings, whoever changes them. */
export const duringSettingsSave = during<{
  readonly changes: readonly SettingChange[];
  readonly who: Principal;
}>('settings/duringSettingsSave');
/** Runs when `read` returns the new values. */
export const afterSettingsSave = after<{ readonly keys: ReadonlySet<string>; readonly who: Principal }>(
  'settings/afterSettingsSave',
);
/** Adds to `obj` of the reply to a caller that changed settings, after the changes were saved. */
export const composeSettingsReply = draft<
  Readonly<Record<string, unknown>>,
  { readonly changes: Readonly<Record<string, unknown>>; readonly who: SettingsCaller }
>('settings/composeSettingsReply', jsonRecord());
/** Adds to the values that pages and programs read before they show anything. */
export const composeDefaultSettings = draft<Readonly<Record<string, unknown>>, { readonly host: string }>(
  'settings/composeDefaultSettings',
  jsonRecord(),
);
