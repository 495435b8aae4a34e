// What the program around the panel does for it.
import { type PluginState, token } from '../../kernel/index.js';

/** Why a plugin is not switched, and a sentence that names the way out. */
export interface Objection {
  readonly refused: 'unknown' | 'essential' | 'in use' | 'would not start' | 'not writable' | 'busy';
  readonly reason: string;
}
export interface Switched {
  /** false where everything is as it was asked for already */
  readonly restarting: boolean;
}
export interface Switch {
  readonly name: string;
  readonly enable: boolean;
  /** why it could not be; empty while the restart is still to come */
  readonly problem: string;
}

/** A plugin as people see it: as the kernel knows it, and what a restart would make of it. */
export interface ListedPlugin extends Omit<PluginState, 'state'> {
  /** waiting: added since the panel has started */
  readonly state: PluginState['state'] | 'waiting';
  /** the version that waits for a restart; empty when none does */
  readonly waiting: string;
}

/** Offered by the program that runs the panel; not there where the panel is part of another program. */
export interface PanelProgramApi {
  /** Writes it into the config file once it is known that the panel would start with it, and starts the panel anew soon after. When that start fails the former config comes back. */
  switchPlugin(name: string, enable: boolean): Promise<Switched | Objection>;
  /** Starts the panel anew soon, with what environment and config file say now, once it is known that it would start so; when it does not, it goes on with what it had. */
  restartPanel(): Promise<Switched | Objection>;
  /** Those under way, and those that failed since the process began, but for what was switched since. */
  switches(): readonly Switch[];
  /** These plugins of the kernel, with what was added, updated or taken out since they were read. */
  listed(plugins: readonly PluginState[]): Promise<readonly ListedPlugin[]>;
}
export const PanelProgram = token<PanelProgramApi>('panel', 'PanelProgram');
