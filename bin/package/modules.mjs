// Packages of npm: those that the panel loads, for the target, by the lock file. None of their scripts runs.
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { run } from './target.mjs';

/** Packages that another one needs only while it is installed. */
const FOR_INSTALL = { sqlite3: ['prebuild-install', 'tar', 'node-addon-api', 'node-gyp'] };
/** Types, and sources of what is compiled. */
const LEFT_OUT = /\.map$|\.d\.[cm]?ts$|^node_modules\/sqlite3\/(?:deps|src|build|binding\.gyp)/;
/** Declared as dependencies by packages that need them for types alone. */
const TYPES = /^@types\//;

/** Names of the packages that are reached from the manifest, and the paths in node_modules where they are. */
export function reached(lock) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    if (path !== '') found.add(path);
    const {
      dependencies = {},
      optionalDependencies = {},
      name = path.split('node_modules/').at(-1),
    } = lock.packages[path];
    for (const wanted of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (FOR_INSTALL[name]?.includes(wanted) || TYPES.test(wanted)) continue;
      const place = resolved(lock, path, wanted);
      if (place !== undefined) visit(place);
    }
  };
  visit('');
  return found;
}

/** As Node does it: in the folder of the package itself, then in those above. */
function resolved(lock, from, name) {
  for (let base = from; ; base = base.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (lock.packages[path]) return path;
    if (base === '') return undefined;
  }
}

/** Copies them into `app`; resolves with name, version, licence and folder of each. */
export async function copyModules(app, arch) {
  const stage = await mkdtemp(join(tmpdir(), 'weir-modules-'));
  try {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
    const { scripts, ...manifest } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    await writeFile(join(stage, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(stage, 'package-lock.json'), JSON.stringify(lock));
    await run(
      'npm ci',
      'npm',
      [
        'ci',
        '--omit=dev',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        '--os=linux',
        `--cpu=${arch}`,
        '--libc=glibc',
      ],
      { cwd: stage },
    );
    const packages = [];
    for (const path of [...reached(lock)].sort()) {
      const from = join(stage, path);
      const text = await readFile(join(from, 'package.json'), 'utf8').catch(() => undefined);
      // Optional, and for another machine.
      if (text === undefined) continue;
      const to = join(app, path);
      await cp(from, to, {
        recursive: true,
        filter: (source) => {
          const name = source.slice(stage.length + 1);
          return !LEFT_OUT.test(name) && !name.slice(path.length).includes('/node_modules');
        },
      });
      const { name, version, license } = JSON.parse(text);
      packages.push({ name, version, license: license ?? lock.packages[path].license ?? '', folder: to });
    }
    await rm(join(app, 'package-lock.json'), { force: true });
    return packages;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Names of the files with the licence of a package. */
export const licenceFiles = async (folder) =>
  (await readdir(folder))
    .filter((name) => /^(?:licen[cs]e|copying|notice|unlicense|patents)/i.test(name))
    .sort();
