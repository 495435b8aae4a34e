// What plugins can hear of the life of the whole panel.
import { after, draft, event, guard } from './hooks/kinds.js';
import { jsonRecord } from '../schema/plain.js';

/** All listeners are open, and all plugins have started but for those from outside that take longer than two seconds; awaited before the panel calls itself ready. For what needs every plugin at work, e.g. a process that they describe together. */
export const afterKernelOpen = after<{ readonly startedAt: number }>('kernel/afterKernelOpen');
/** A plugin from outside has started while the listeners were open already. `hooks` are the ids of those that it taps: what was composed without it has to be composed again. */
export const afterPluginStart = after<{ readonly plugin: string; readonly hooks: readonly string[] }>(
  'kernel/afterPluginStart',
);
/** Facts for the one line in the log that says the panel is ready. */
export const composeStartupSummary = draft<Readonly<Record<string, unknown>>, undefined>(
  'kernel/composeStartupSummary',
  jsonRecord(),
);
/** All listeners are open, and the start of every plugin has come to its end. `plugins` are those that run. */
export const kernelReady = event<{ readonly startedAt: number; readonly plugins: readonly string[] }>(
  'kernel/kernelReady',
);
/** The panel is about to stop; listeners are closed, everything else still works. Refusals are ignored. With `again` it is back at once: what runs beside it is left to the one that comes. */
export const beforeKernelStop = guard<{ readonly reason: string; readonly again: boolean }>(
  'kernel/beforeKernelStop',
);
