// What is told of plugins: those that run, and those that could not. What is not essential is left out with its reason, and the rest runs.
import { token } from '../container/token.js';
import type { AnyHook, Present } from '../hooks/kinds.js';
import type { PluginInstance, State } from './instance.js';

export interface LeftOut {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  readonly outside: boolean;
  /** a sentence that names the plugin and the way out */
  readonly reason: string;
  readonly error?: unknown;
}
export interface PluginState extends Omit<LeftOut, 'error'> {
  readonly state: State;
}

/** For who shows which plugins there are; provided by the kernel. */
export interface PluginsApi {
  list(): readonly PluginState[];
  /** that plugins which run declare; not those of the kernel */
  hooks(): readonly AnyHook[];
  /** whose presence at which hook, as they were added */
  taps(): readonly Present[];
  /** Says what of a running plugin's work is left out, and why, under a name of that work; an empty reason takes it back. A new reason is a fault of the plugin. */
  leaveOut(plugin: string, work: string, reason: string): void;
}
export const Plugins = token<PluginsApi>('kernel', 'Plugins');

/** Those that run, and then those that could not. */
export function statesOf(instances: readonly PluginInstance[], leftOut: readonly LeftOut[]): PluginState[] {
  const running = instances.map(
    ({ plugin: { name, version, about }, outside, state, why, leftOut: work }) => ({
      name,
      version,
      about,
      outside,
      state,
      reason:
        state === 'faulty'
          ? 'it failed twenty times within five minutes; its faults are in the log, and a restart of the panel tries it again'
          : [why, ...work.values()].filter((reason) => reason !== '').join('; '),
    }),
  );
  return [...running, ...leftOut.map(({ error: _, ...rest }) => ({ ...rest, state: 'failed' as const }))];
}
