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
// Files without a time from an earlier run: a group takes a while, and a file that runs alone may take longest.
const expected = (path) =>
  times[relative(process.cwd(), path)] ?? (path.includes('.groups') ? 10_000 : 20_000);

export default {
  files: ['dist/**/*.test.js', 'dist/.groups/*.test.js'],
  require: ['./test/harness/test-process.mjs'],
  workerThreads: false,
  timeout: '3m',
  // The longest first, so that the end is not one long file on one of the cores.
  sortTestFiles: (a, b) => expected(b) - expected(a),
};
