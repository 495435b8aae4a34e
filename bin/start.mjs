// Sets up, then becomes the panel: one process, so that signals reach it.
import { setUp } from './setup.mjs';

await setUp();
await import('../dist/panel/heap.js');
const { main } = await import('../dist/panel/main.js');
await main();
