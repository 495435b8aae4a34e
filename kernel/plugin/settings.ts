// What the kernel knows of settings: plugins declare them, and one plugin keeps them for all.
import type { SettingGroup, SettingValues } from '../../schema/setting.js';
import type { Principal } from '../auth/principal.js';
import { token } from '../container/token.js';
import type { Tx } from '../database/writer.js';
import type { Tap } from '../hooks/kinds.js';
import type { Owner } from './owner.js';

/** A plugin's own settings while the panel runs. */
export interface LiveSettings<G = SettingGroup> {
  /** Values in force, from the plugin's `start` on: a frozen object, replaced at every change. */
  read(): SettingValues<G>;
  /** Changes some within a write of the caller's, for `who`; no guard is asked. Throws where the environment holds one of them. */
  change(tx: Tx, values: Partial<SettingValues<G>>, who: Principal): Promise<void>;
  /** A tap for `taps`: awaited after each change of one of them, before the caller who saved it has its reply. */
  changed(run: (values: SettingValues<G>) => void | Promise<void>): Tap;
}

/** Keeps the settings of all plugins; provided by the plugin `settings`. */
export interface SettingsSource {
  /** Throws where the group cannot be, with a sentence. */
  declare<G extends SettingGroup>(plugin: Pick<Owner, 'name' | 'outside'>, group: G): LiveSettings<G>;
}
export const SettingsSource = token<SettingsSource>('settings', 'SettingsSource');
