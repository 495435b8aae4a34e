// Which commands the program has itself.
import { checkCommand } from './check.js';
import type { Own } from './own.js';

export const ownCommands: readonly Own[] = [checkCommand];
