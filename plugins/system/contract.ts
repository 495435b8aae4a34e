// Functions of the program around the panel.
import { type PluginState, token } from '../../kernel/index.js';

/** Why a plugin is not enabled or disabled, with a sentence that names the fix. */
export interface Objection {
  readonly refused: 'unknown' | 'essential' | 'in use' | 'would not start' | 'not writable' | 'busy';
  readonly reason: string;
}
export interface Switched {
  /** false where nothing has to change */
  readonly restarting: boolean;
}
export interface Switch {
  readonly name: string;
  readonly enable: boolean;
  /** why it failed; empty while the restart is still to come */
  readonly problem: string;
}

/** A plugin in lists: the kernel's view of it, and what a restart would change. */
export interface ListedPlugin extends Omit<PluginState, 'state'> {
  /** waiting: added since the panel started */
  readonly state: PluginState['state'] | 'waiting';
  /** the version that waits for a restart; empty when none does */
  readonly waiting: string;
}

/** Provided by the program that runs the panel; missing where the panel is embedded in another program. */
export interface PanelProgramApi {
  /** Writes the change to the config file after a check that the panel would start with it, and restarts the panel soon after. If that start fails, the previous config is restored. */
  switchPlugin(name: string, enable: boolean): Promise<Switched | Objection>;
  /** Restarts the panel soon with the current environment and config file, after a check that it would start; otherwise nothing changes. */
  restartPanel(): Promise<Switched | Objection>;
  /** Stops this panel with what runs beside it, and starts it again at once: what it has in memory is no longer right. A core of its own among several panels goes on. */
  startAnew(reason: string): void;
  /** Puts a database that was rehearsed in this folder in the place of the panel's own, and restarts the panel soon. If that start fails, the previous database comes back. */
  restoreDatabase(folder: string): Promise<Switched | Objection>;
  /** Changes under way, and failed ones since the process began, unless the plugin was changed again since. */
  switches(): readonly Switch[];
  /** These plugins of the kernel, with what was added, updated or removed since they were loaded. */
  listed(plugins: readonly PluginState[]): Promise<readonly ListedPlugin[]>;
}
export const PanelProgram = token<PanelProgramApi>('panel', 'PanelProgram');
