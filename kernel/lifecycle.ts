// Hooks in the life of the whole panel.
import { after, draft, event, guard } from './hooks/kinds.js';
import { jsonRecord } from '../schema/plain.js';

/** All listeners are open, and all plugins have started, except third-party ones that take longer than two seconds. Awaited before the panel logs `ready`. For work that needs every plugin, e.g. a process that they configure together. */
export const afterKernelOpen = after<{ readonly startedAt: number }>('kernel/afterKernelOpen');
/** This process now runs what only one process may run, such as the core: after `afterKernelOpen`, and where several panels share a database, when this one leads them. */
export const afterKernelLead = after<Record<never, never>>('kernel/afterKernelLead');
/** A third-party plugin has started after the listeners were open. `hooks` are the ids of the hooks that it taps: compose again what was composed without it. */
export const afterPluginStart = after<{ readonly plugin: string; readonly hooks: readonly string[] }>(
  'kernel/afterPluginStart',
);
/** Facts for the log line that says the panel is ready. */
export const composeStartupSummary = draft<Readonly<Record<string, unknown>>, undefined>(
  'kernel/composeStartupSummary',
  jsonRecord(),
);
/** All listeners are open, and the start of every plugin has finished or failed; where several panels share a database, this one leads them as well. `plugins` are those that run. */
export const kernelReady = event<{ readonly startedAt: number; readonly plugins: readonly string[] }>(
  'kernel/kernelReady',
);
/** The panel is about to stop: listeners are closed, everything else still works. Refusals are ignored. With `again` the panel restarts at once, and programs beside it keep running for the next one. */
export const beforeKernelStop = guard<{ readonly reason: string; readonly again: boolean }>(
  'kernel/beforeKernelStop',
);
