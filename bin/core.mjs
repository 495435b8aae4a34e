// Finds, downloads or builds the core as the panel does; for tests, demo and bench. As a command it prints the core's path.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, setUp } from './setup.mjs';

/** Resolves with the path of a core, or a sentence that says why there is none. */
export async function core() {
  const { findCore } = await import('../dist/plugins/engine/install/find.js');
  const { RELEASES } = await import('../dist/plugins/engine/install/release.js');
  const { WEIR_ENGINE_BIN, WEIR_ENGINE_INSTALL, WEIR_ENGINE_URL, WEIR_ENGINE_SHA256 } = process.env;
  const say = (message, data) => process.stderr.write(`${message} ${data ? JSON.stringify(data) : ''}\n`);
  return findCore({
    config: {
      binary: WEIR_ENGINE_BIN,
      install: WEIR_ENGINE_INSTALL === 'off' ? 'off' : 'on',
      releases: WEIR_ENGINE_URL || RELEASES,
      sha256: WEIR_ENGINE_SHA256,
    },
    dataDirectory: join(root, 'data'),
    log: { info: say, warn: say },
  }).catch((error) => ({ missing: error.message }));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setUp();
  const found = await core();
  if ('binary' in found) process.stdout.write(`${found.binary}\n`);
  else {
    process.stderr.write(`${found.missing}\n`);
    process.exitCode = 1;
  }
}
