// A panel to be killed: starts a process with these options, says its pid, and waits.
// Arguments: data folder, JSON of options
import type { ProcessOptions } from '../contract.js';
import { pidOf, World } from './world.js';

const [data = '', options = '{}'] = process.argv.slice(2);
const handle = new World(data).manage(JSON.parse(options) as Partial<ProcessOptions>);
process.stdout.write(`${pidOf(await handle.start())}\n`);
setInterval(() => {}, 60_000);
