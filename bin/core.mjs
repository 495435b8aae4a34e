// Finds or builds the core as the panel does; for the tests, the demo and the bench.
import { join } from 'node:path';
import { root } from './setup.mjs';

/** The path of a core, or a sentence that says why there is none. */
export async function core() {
  const { findCore } = await import('../dist/plugins/engine/install/find.js');
  const log = { info: (message, data) => process.stderr.write(`${message} ${data ? JSON.stringify(data) : ''}\n`) };
  return findCore({ env: process.env, dataDirectory: join(root, 'data'), log }).catch((error) => ({ missing: error.message }));
}
