// The web page, beside the compiled plugin that serves it: checked by the compiler, bundled, and packed in the forms that
// browsers take. A page that was built before from the same sources is copied.
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const PLUGIN = join('plugins', 'web-ui');
const PAGE = join(PLUGIN, 'page');
/** What the page is made of, besides its own folder. */
export const OTHERS = [
  'sdk',
  'package-lock.json',
  join('bin', 'web-page.mjs'),
  join(PLUGIN, 'call-pattern.ts'),
  join(PLUGIN, 'page-icons.ts'),
];
const LICENCE = /^(?:licen[cs]e|notice)/i;

/**
 * Builds it from the checkout `root` into a build; resolves with name, version, licence and folder of each package that is
 * in it. Does nothing where the plugin was deleted.
 */
export async function buildWebPage(root, dist) {
  if (!existsSync(join(root, PAGE))) return [];
  if (!existsSync(join(root, 'node_modules', 'vite')))
    throw new Error(`the web page cannot be built, its packages are missing; run npm ci in ${root} first`);
  const digest = await digestOf(root);
  const cache = join(root, 'node_modules', '.cache', 'weir', 'web-page');
  const kept = join(cache, digest);
  if (!existsSync(kept)) {
    const made = `${kept}.${process.pid}`;
    await Promise.all([check(root), bundle(root, made)]);
    await pack(made);
    await rm(kept, { recursive: true, force: true });
    await rename(made, kept);
    for (const name of await readdir(cache))
      if (name !== digest) await rm(join(cache, name), { recursive: true, force: true });
  }
  const site = join(dist, PLUGIN, 'site');
  await mkdir(site, { recursive: true });
  await cp(kept, site, { recursive: true });
  const names = JSON.parse(await readFile(join(site, 'packages.json'), 'utf8'));
  return Promise.all(names.map((name) => aboutPackage(root, name)));
}

async function digestOf(root) {
  const hash = createHash('sha256');
  const add = async (path) => {
    const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => undefined);
    if (!entries) hash.update(`${path}\n`).update(await readFile(join(root, path)));
    else
      for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) await add(join(path, name));
  };
  for (const path of [PAGE, ...OTHERS]) await add(path);
  return hash.digest('hex').slice(0, 20);
}

/** The types of the page: a bundler only removes them. */
function check(root) {
  return new Promise((resolve, reject) => {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    spawn(process.execPath, [tsc, '--noEmit', '-p', join(root, PAGE)], { cwd: root, stdio: ['ignore', 2, 2] })
      .on('error', reject)
      .on('close', (code) =>
        code === 0 ? resolve() : reject(new Error('the web page has errors of types; see above')),
      );
  });
}

async function bundle(root, outDir) {
  const { build } = await import('vite');
  const made = await build({
    root: join(root, PAGE),
    configFile: join(root, PAGE, 'vite.config.mjs'),
    logLevel: 'warn',
    mode: 'production',
    build: { outDir, emptyOutDir: true },
  });
  const modules = [made].flat().flatMap(({ output }) => output.flatMap(({ moduleIds = [] }) => moduleIds));
  const names = new Set(modules.map(packageOf).filter((name) => name !== undefined));
  await writeFile(join(outDir, 'packages.json'), JSON.stringify([...names].sort()));
  const texts = await Promise.all([...names].sort().map((name) => licenceOf(root, name)));
  await writeFile(join(outDir, 'LICENCES.txt'), texts.join(`\n${'='.repeat(78)}\n`));
}

/** The package in whose folder a module is. */
const packageOf = (id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/'))?.[1];

async function aboutPackage(root, name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return { name, version, license, folder };
}

async function licenceOf(root, name) {
  const { version, license, folder } = await aboutPackage(root, name);
  const files = (await readdir(folder)).filter((file) => LICENCE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
}

/** One folder for each form: `identity` has the plain files. */
async function pack(folder) {
  const names = await readdir(join(folder, 'assets'));
  for (const form of ['identity', 'gzip', 'br'])
    await mkdir(join(folder, form, 'assets'), { recursive: true });
  await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, 'assets', name));
      const put = (form, bytes) => writeFile(join(folder, form, 'assets', name), bytes);
      await put('gzip', await promisify(gzip)(content, { level: 9 }));
      await put(
        'br',
        await promisify(brotliCompress)(content, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: 11,
            [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          },
        }),
      );
      await rename(join(folder, 'assets', name), join(folder, 'identity', 'assets', name));
    }),
  );
  await rm(join(folder, 'assets'), { recursive: true });
}
