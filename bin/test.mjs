// Every test, with all that it needs. `npm test -- plugins/clients` runs one folder; `--fast` leaves out what needs a core.
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { core } from './core.mjs';
import { root, run, setUp } from './setup.mjs';

const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const fast = process.argv.includes('--fast');
const NEEDS_CORE = '.core.test.js';

async function testFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.name.endsWith('.test.js')).map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name))).sort();
}

/** Reads ava's TAP: one line for each test, and what a failure says below it. */
function runAva(files, env) {
  return new Promise((resolve, reject) => {
    const ava = spawn(process.execPath, [join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs'), '--tap', ...files], { cwd: root, env, stdio: ['ignore', 'pipe', 2] });
    const count = { passed: 0, failed: 0, skipped: 0 };
    let showing = false;
    createInterface({ input: ava.stdout }).on('line', (line) => {
      const [, not, name, directive] = /^(not )?ok \d+ - (.*?)(?: # (SKIP|TODO).*)?$/.exec(line) ?? [];
      if (name === undefined) {
        if (showing || /^\s*#/.test(line)) {
          if (!/^# (?:tests|pass|skip|fail)/.test(line) && line !== '#') process.stdout.write(`${line}\n`);
        }
        return;
      }
      showing = Boolean(not);
      if (directive) count.skipped++;
      else if (not) count.failed++;
      else count.passed++;
      process.stdout.write(`${not ? 'FAILED ' : directive ? 'skipped' : 'ok     '} ${name}\n`);
    });
    ava.on('error', reject);
    ava.on('close', (code) => resolve({ ...count, code }));
  });
}

await setUp();
await run(process.execPath, [join(root, 'node_modules', 'oxlint', 'bin', 'oxlint'), '--deny-warnings'], { stdio: 'inherit' });

const wanted = (await testFiles(join(root, 'dist'))).filter((file) => folders.length === 0 || folders.some((folder) => file.startsWith(join('dist', folder))));
const found = fast ? { missing: '--fast' } : await core();
const files = 'binary' in found ? wanted : wanted.filter((file) => !file.endsWith(NEEDS_CORE));
const leftOut = wanted.length - files.length;
if (leftOut > 0) process.stdout.write(`left out, for they need a core (${found.missing}): ${leftOut} files\n`);

const { passed, failed, skipped, code } = files.length > 0 ? await runAva(files, { ...process.env, NODE_ENV: 'test', ...('binary' in found && { WEIR_ENGINE_BIN: found.binary }) }) : { passed: 0, failed: 0, skipped: 0, code: 1 };
if (leftOut > 0 && process.env.CI && !fast) process.stdout.write('with CI set, a test that is left out is a failure\n');
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(code !== 0 || failed > 0 || passed === 0 || (leftOut > 0 && process.env.CI && !fast) ? 1 : 0);
