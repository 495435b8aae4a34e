// Writes the API reference and the TypeScript client from the routes of all plugins, and the public types from their declarations. `--check` only checks whether they are up to date.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root, setUp } from './setup.mjs';

const check = process.argv.includes('--check');
await setUp();
const { makeReference } = await import('../dist/test/harness/reference.js');
const { files, complaints } = await makeReference();
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
let stale = 0;
for (const [path, text] of Object.entries(files)) {
  const file = join(root, path);
  if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
  stale++;
  process.stdout.write(check ? `${path} is out of date; run node bin/reference.mjs\n` : `${path} written\n`);
  if (check) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
if (stale === 0) process.stdout.write('the reference is up to date\n');
process.exitCode = complaints.length > 0 || (check && stale > 0) ? 1 : 0;
