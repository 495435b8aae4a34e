// The panel as a process of its own, without the set-up that `npm start` does first. It ends with the process that started it.
import '../../panel/heap.js';
import type { Limits } from '../../kernel/plugin/limits.js';

// As `npm start` does: how V8 uses memory is set before the panel is loaded.
const { main } = await import('../../panel/main.js');
process.stdin.resume().on('end', () => process.emit('SIGTERM'));
// How long others wait for a plugin, as JSON; the panel itself has no such variable.
await main({ limits: JSON.parse(process.env['TEST_PANEL_LIMITS'] ?? '{}') as Partial<Limits> });
