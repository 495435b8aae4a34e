#!/usr/bin/env node
// Sets up, then runs a command: in the panel of the data folder while it runs, else by itself.
import { setUp } from './setup.mjs';

await setUp();
const { weir } = await import('../dist/cli/weir.js');
const line = (stream) => (text) => void stream.write(`${text}\n`);
process.exit(await weir(process.argv.slice(2), process.env, { say: line(process.stdout), complain: line(process.stderr) }));
