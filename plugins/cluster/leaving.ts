// What happens before a panel stops for good: callers go elsewhere first, so that none of them is refused.
import { token } from '../../kernel/index.js';

/** Filled by this plugin, called by the program around the panel. */
export class Leaving {
  /** Resolves when callers have had the time to go elsewhere; at once when `hurry` aborts. */
  run: (hurry: AbortSignal) => Promise<void> = async () => undefined;
}

/** Provided by the program around the panel. */
export const PanelLeaving = token<Leaving>('panel', 'PanelLeaving');
