// The list of plugins: those that run, and those that could not. A plugin that is not essential is left out with its reason, and the rest runs.
import { token } from '../container/token.js';
import type { AnyHook, RegisteredTap } from '../hooks/kinds.js';
import type { PluginInstance, State } from './instance.js';

export interface LeftOut {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  readonly outside: boolean;
  /** a sentence that names the plugin and the fix */
  readonly reason: string;
  readonly error?: unknown;
}
export interface PluginState extends Omit<LeftOut, 'error'> {
  readonly state: State;
}

/** The plugins, for display; provided by the kernel. */
export interface PluginsApi {
  list(): readonly PluginState[];
  /** hooks that the running plugins declare; not those of the kernel */
  hooks(): readonly AnyHook[];
  /** all taps, in the order of registration */
  taps(): readonly RegisteredTap[];
  /** Reports which part of a running plugin's work is left out, and why; `work` names that part. An empty reason withdraws the report. A new reason counts as a fault of the plugin. */
  leaveOut(plugin: string, work: string, reason: string): void;
}
export const Plugins = token<PluginsApi>('kernel', 'Plugins');

const FAULTY =
  'it failed twenty times within five minutes; its faults are in the log, and a restart of the panel tries it again';
const reasonOf = ({ state, offReason, skippedWork }: PluginInstance): string =>
  state === 'faulty' ? FAULTY : [offReason, ...skippedWork.values()].filter(Boolean).join('; ');

/** Running plugins first, then those that could not start. */
export function statesOf(instances: readonly PluginInstance[], leftOut: readonly LeftOut[]): PluginState[] {
  const running = instances.map((one) => {
    const { name, version, about } = one.plugin;
    return { name, version, about, outside: one.outside, state: one.state, reason: reasonOf(one) };
  });
  return [...running, ...leftOut.map(({ error: _, ...rest }) => ({ ...rest, state: 'failed' as const }))];
}
