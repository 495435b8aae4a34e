// Keeps nodes as this panel wants them, and counts what their clients use.
import { event } from '../../kernel/index.js';

/** The wished state of these nodes has changed: something waits to be sent. */
export const desiredStateChanged = event<{ readonly nodeIds: readonly number[] }>(
  'node-sync/desiredStateChanged',
);
