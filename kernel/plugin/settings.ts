// Settings from the kernel's view: plugins declare them, and one plugin stores them for all.
import type { SettingGroup, SettingValues } from '../../schema/setting.js';
import type { Principal } from '../auth/principal.js';
import { token } from '../container/token.js';
import type { Tx } from '../database/tx.js';
import type { Tap } from '../hooks/kinds.js';
import type { Owner } from './owner.js';

/** A plugin's own settings at run time. */
export interface LiveSettings<G = SettingGroup> {
  /** Current values, from the plugin's `start` on: a frozen object, replaced at every change. */
  read(): SettingValues<G>;
  /** Changes some settings within a write of the caller's, on behalf of `who`; calls no guard. Throws where the environment sets one of them. */
  change(tx: Tx, values: Partial<SettingValues<G>>, who: Principal): Promise<void>;
  /** A tap for `taps`: awaited after each change of one of them, before the caller's reply is sent. */
  changed(run: (values: SettingValues<G>) => void | Promise<void>): Tap;
}

/** Stores the settings of all plugins; provided by the plugin `settings`. */
export interface SettingsSource {
  /** Throws where the group is invalid, with a sentence. */
  declare<G extends SettingGroup>(plugin: Pick<Owner, 'name' | 'outside'>, group: G): LiveSettings<G>;
}
export const SettingsSource = token<SettingsSource>('settings', 'SettingsSource');
