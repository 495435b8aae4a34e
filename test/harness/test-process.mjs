// Loaded by each test process before its tests; leaves a note for bin/test.mjs: how long each file took, how long processors
// worked for it, and the test that ran when the process ended.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import '../../dist/test/harness/cheap-passwords.js';
import { TestGroup } from './test-group.mjs';
import { workTime } from './work-time.mjs';

// These processes live for seconds, too short to earn back what optimised code costs: a fifth of the CPU time of a boot.
setFlagsFromString('--interrupt-budget=5000000');
// Each process reads the source maps of all that it imports, and maps the stack of each error.
if (process.env.WEIR_TEST_SOURCE_MAPS === 'off') process.setSourceMapsEnabled(false);

const ava = createRequire(import.meta.resolve('ava'));
const { refs } = ava('../lib/worker/state.cjs');
const root = fileURLToPath(new URL('../..', import.meta.url));
const file = relative(root, fileURLToPath(refs.runnerChain.meta.file));
const folder = process.env.WEIR_TEST_NOTES;
const on = process.env.WEIR_TEST_DATABASE_SERVER ? 'MariaDB' : 'SQLite';

const keepNote = ({ times, work, running = '' }) => {
  if (folder)
    writeFileSync(
      join(folder, `${process.pid}.json`),
      JSON.stringify({ process: file, on, running, times, work }),
    );
};

if (file.startsWith(join('dist', '.groups'))) {
  const group = new TestGroup(refs.runnerChain, root, keepNote);
  refs.runnerChain = group.test;
} else
  process.on('exit', () => keepNote({ times: { [file]: performance.now() }, work: { [file]: workTime() } }));
