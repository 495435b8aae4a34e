// Runs test files with ava, shows what it writes and counts it.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { root, spawnWithUs } from './setup.mjs';

const GROUP = /(?:\.groups \S )?[a-z]+-group-\d+ \S (?=\S+ \S )/;

/** What ava, and a group (test/harness/test-group.mjs), write before the titles of a file. */
export const titleOf = (file) =>
  file
    .replace(/^dist\/(.*)\.test\.js$/, '$1')
    .split('/')
    .join(' › ');

/**
 * Resolves with the counts and the titles of failed tests; `print` gets each line. Not its TAP: that reporter breaks on
 * a test that hangs or exits, and names no line of ours.
 */
export function runAva(files, env, concurrency, print) {
  return new Promise((resolve, reject) => {
    const ava = spawnWithUs(
      process.execPath,
      [
        join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs'),
        '--concurrency',
        String(concurrency),
        ...files,
      ],
      { env, stdio: ['ignore', 'pipe', 2] },
    );
    const count = { passed: 0, failed: 0, skipped: 0 };
    const failures = [];
    createInterface({ input: ava.stdout }).on('line', (line) => {
      // Tests in a group bring the name of their file along.
      print(line.replace(GROUP, ''));
      const text = stripVTControlCharacters(line).replace(GROUP, '');
      if (/^ {2}[✔√] /.test(text)) count.passed++;
      else if (/^ {2}- \[(?:skip|todo)\]/.test(text)) count.skipped++;
      // A file that crashed counts as well; the tests that it leaves behind are one line of summary.
      else if (/^ {2}[✘×] (?!\d+ tests? remaining)/.test(text)) {
        count.failed++;
        failures.push(text.replace(/^ {2}[✘×] (?:\[fail\]: )?/, ''));
      }
    });
    ava.on('error', reject);
    ava.on('close', (code) =>
      resolve({ ...count, failed: code !== 0 && count.failed === 0 ? 1 : count.failed, failures }),
    );
  });
}
