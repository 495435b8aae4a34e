import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

function timesOfLastRun() {
  try {
    return JSON.parse(readFileSync('node_modules/.cache/weir/test-times.json', 'utf8')).SQLite ?? {};
  } catch {
    return {};
  }
}
const times = timesOfLastRun();
// A file that nobody has timed yet: those with a core and groups of files take longest.
const expected = (path) =>
  times[relative(process.cwd(), path)] ?? (/\.core\.|\.groups/.test(path) ? 15_000 : 2_000);

export default {
  files: ['dist/**/*.test.js', 'dist/.groups/*.test.js'],
  require: ['./test/harness/test-process.mjs'],
  workerThreads: false,
  timeout: '3m',
  // The longest first, so that the end is not one long file on one of the cores.
  sortTestFiles: (a, b) => expected(b) - expected(a),
};
