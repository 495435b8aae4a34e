// What the program around the panel knows of several panels on one database.
import { token } from '../../kernel/index.js';
import type { DatabaseClock } from './database-clock.js';

export { DatabaseClock } from './database-clock.js';

/** The clock of this process; provided by the program where the panel is one of several. */
export const SharedClock = token<DatabaseClock>('panel', 'SharedClock');
