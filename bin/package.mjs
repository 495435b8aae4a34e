// Builds the package for Linux, and that of the client for npm: `npm run package`, or with `-- --arch arm64 --out /tmp/packages`. The same commit and the
// same tools give the same bytes. docs/install.md says how to install it, decision 37 what is in it.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { archive, digestOf, listFiles } from './package/archive.mjs';
import { buildCore } from './package/core.mjs';
import { copyProgram } from './package/program.mjs';
import { copyModules } from './package/modules.mjs';
import { writeNotices } from './package/notices.mjs';
import { copyRuntime } from './package/runtime.mjs';
import { packSdk } from './package/sdk.mjs';
import { buildSqlite, toolsFor } from './package/sqlite.mjs';
import { archOf, commitOf, say, versionOf } from './package/target.mjs';
import { checkNode, root } from './setup.mjs';

/** Builds the folder of a package in `parent`; resolves with its path. */
export async function packageFolder(arch, parent, updateKey) {
  const version = await versionOf(root);
  const { commit, time } = await commitOf(root);
  const folder = join(parent, `weir-${version}-linux-${arch}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  say(`${arch}: program`);
  const { parts } = await copyProgram(folder);
  say(`${arch}: packages of npm`);
  const packages = await copyModules(join(folder, 'app'), arch);
  say(`${arch}: Node`);
  const runtime = await copyRuntime(folder, arch);
  say(`${arch}: SQLite's driver`);
  await buildSqlite(folder, arch, runtime);
  say(`${arch}: the core`);
  const core = await buildCore(folder, arch);
  await writeNotices(folder, { packages: [...packages, ...parts], runtime, core });
  const about = { version, arch, commit, node: runtime.version, core: core.version };
  await writeFile(join(folder, 'VERSION'), `${JSON.stringify(about, null, 2)}\n`);
  // Root trusts it for updates from the panel; see `npm run release`.
  if (updateKey !== undefined) await writeFile(join(folder, 'update.pub'), `${updateKey}\n`);
  await listFiles(folder);
  return { folder, time };
}

async function main() {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', multiple: true, default: ['x64', 'arm64'] },
      out: { type: 'string', default: 'dist/packages' },
      folder: { type: 'boolean', default: false },
      'update-key': { type: 'string' },
    },
  });
  checkNode();
  if (values['update-key'] !== undefined && !/^RW[A-Za-z0-9+/]{54}$/.test(values['update-key']))
    throw new Error('--update-key must be a public key of minisign; `npm run release -- key` makes one');
  const machines = [...new Set(values.arch.map(archOf))];
  // What is missing is said now, and not after the package for the first machine.
  for (const arch of machines) toolsFor(arch);
  if (!existsSync(join(root, 'node_modules', 'typescript')))
    throw new Error(`packages are missing; run npm ci --ignore-scripts in ${root} first`);
  const out = resolve(values.out);
  await mkdir(out, { recursive: true });
  const work = values.folder ? out : await mkdtemp(join(tmpdir(), 'weir-package-'));
  try {
    for (const arch of machines) {
      const { folder, time } = await packageFolder(arch, work, values['update-key']);
      if (values.folder) {
        process.stdout.write(`${folder}\n`);
        continue;
      }
      const file = await archive(folder, out, time);
      await addSum(join(out, 'SHA256SUMS'), await digestOf(file), file.slice(out.length + 1));
      process.stdout.write(`${file}\n`);
    }
    if (!values.folder) {
      say('the client for npm');
      const file = await packSdk(out);
      await addSum(join(out, 'SHA256SUMS'), await digestOf(file), file.slice(out.length + 1));
      process.stdout.write(`${file}\n`);
    }
  } finally {
    if (!values.folder) await rm(work, { recursive: true, force: true });
  }
}

/** A package of the other machine keeps its line. */
async function addSum(path, digest, name) {
  const others = (await readFile(path, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '' && line.slice(66) !== name);
  const lines = [...others, `${digest}  ${name}`].sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1));
  await writeFile(path, `${lines.join('\n')}\n`);
}

await main().catch((error) => {
  say(error.message);
  process.exitCode = 1;
});
