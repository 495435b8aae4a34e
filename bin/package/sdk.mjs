// The client as a package of npm: the sources of sdk/ compiled twice, for `import` and for `require`.
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { run } from './target.mjs';

/** Node reads the form of a module from the package.json nearest to it. */
const FORMS = {
  esm: { type: 'module', compiler: [] },
  cjs: { type: 'commonjs', compiler: ['--module', 'commonjs', '--moduleResolution', 'bundler'] },
};

/** Makes the folder of the package; resolves with its path. */
export async function sdkFolder(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const read = async (path) => JSON.parse(await readFile(join(root, path), 'utf8'));
  // It has the version of the panel whose API it knows, and is published when that is.
  const { version, private: isPrivate } = await read('package.json');
  const { name, ...own } = await read('sdk/package.json');
  const manifest = { name, version, ...(isPrivate && { private: true }), ...own };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [form, { type, compiler }] of Object.entries(FORMS)) {
    const out = join(folder, 'dist', form);
    await run(`the build of the client (${form})`, process.execPath, [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      ...['-p', join(root, 'sdk', 'tsconfig.json'), '--outDir', out],
      ...compiler,
    ]);
    await writeFile(join(out, 'package.json'), `${JSON.stringify({ type })}\n`);
  }
  await copyFile(join(root, 'sdk', 'README.md'), join(folder, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await cp(join(root, 'sdk', 'examples'), join(folder, 'examples'), { recursive: true });
  return folder;
}

/** Packs it into `out`; resolves with the path of the archive. The same sources give the same bytes. */
export async function packSdk(out) {
  const work = await mkdtemp(join(tmpdir(), 'weir-sdk-'));
  try {
    const folder = await sdkFolder(join(work, 'package'));
    await run('npm pack', 'npm', [
      'pack',
      folder,
      '--pack-destination',
      out,
      '--offline',
      '--loglevel=error',
    ]);
    const [name] = (await readdir(out)).filter((file) => /^weir-panel-sdk-.*\.tgz$/.test(file));
    return join(out, name);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
