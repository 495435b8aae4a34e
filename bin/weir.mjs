#!/usr/bin/env node
// Sets up, then runs a command: in the running panel of the data folder, or else by itself.
import { setUp } from './setup.mjs';

await setUp();
const { main } = await import('../dist/cli/weir.js');
await main();
