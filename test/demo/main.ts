// `npm run demo`: finds or builds the core where the panel would, then runs the demo with it.
import { resolve } from 'node:path';
import { createLog } from '../../kernel/log/log.js';
import { messageOf } from '../../kernel/index.js';
import { findCore } from '../../plugins/engine/install/find.js';
import { demo } from './demo.js';

/** Resolves with the exit code. */
export async function main(): Promise<number> {
  const log = createLog({ level: 'info', readable: true, write: (line) => process.stderr.write(line) });
  try {
    const found = await findCore({ env: process.env, dataDirectory: resolve(process.env['WEIR_DATA_DIR'] || 'data'), log });
    if ('missing' in found) throw new Error(`there is no core to show: ${found.missing}`);
    return await demo({ binary: found.binary });
  } catch (error) {
    process.stderr.write(`The demo failed: ${messageOf(error)}\n`);
    return 1;
  }
}
