import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

function timesOfLastRun() {
  try {
    return JSON.parse(readFileSync('node_modules/.cache/weir/test-times.json', 'utf8'));
  } catch {
    return {};
  }
}
const times = timesOfLastRun();
// A file that nobody has timed yet: those with a core take longest.
const expected = (path) => times[relative(process.cwd(), path)] ?? (path.includes('.core.') ? 20_000 : 2_000);

export default {
  files: ['dist/**/*.test.js'],
  require: ['./test/harness/file-times.mjs'],
  workerThreads: false,
  timeout: '3m',
  // The longest first, so that the end is not one long file on one of the cores.
  sortTestFiles: (a, b) => expected(b) - expected(a),
};
