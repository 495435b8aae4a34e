// Weir itself: compiled into a folder of its own, so that nothing of an earlier build gets in.
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyApiPage } from '../api-page.mjs';
import { root } from '../setup.mjs';
import { buildWebPage } from '../web-page.mjs';
import { run } from './target.mjs';

/** What runs needs neither types nor maps nor tests; of the page's sources tests compile some. */
const LEFT_OUT =
  /^plugins\/web-ui\/page(?:\/|$)|(?:^|\/)(?:test|examples)(?:\/|$)|\.d\.ts$|\.map$|\.tsbuildinfo$/;
/** Of the checkout, by their paths in the package. */
const COPIED = {
  'bin/weir.mjs': 'app/bin/weir.mjs',
  'bin/start.mjs': 'app/bin/start.mjs',
  'bin/setup.mjs': 'app/bin/setup.mjs',
  'package-lock.json': 'app/package-lock.json',
  LICENSE: 'LICENSE',
  'docs/install.md': 'INSTALL.md',
  'install/install.sh': 'install.sh',
  'install/uninstall.sh': 'uninstall.sh',
  'install/weir.sh': 'bin/weir',
  'install/stop-left-over.sh': 'bin/stop-left-over',
  'install/weir.service': 'systemd/weir.service',
  'install/weir-update.service': 'systemd/weir-update.service',
  'install/weir-update.path': 'systemd/weir-update.path',
  'install/sidecars.conf': 'systemd/sidecars.conf',
  'install/weir.env': 'systemd/weir.env',
};
const FOLDERS = ['config/presets', 'docs/reference'];

/** Fields of package.json that the panel reads. */
const manifestOf = ({ name, version, license, type, engines, exports, dependencies }) => ({
  name,
  version,
  license,
  type,
  engines,
  exports,
  dependencies,
});

/** Resolves with the packages of npm whose files are among ours. */
export async function copyProgram(folder) {
  const app = join(folder, 'app');
  for (const [from, to] of Object.entries(COPIED)) {
    await mkdir(dirname(join(folder, to)), { recursive: true });
    await copyFile(join(root, from), join(folder, to));
  }
  for (const name of FOLDERS) await cp(join(root, name), join(app, name), { recursive: true });
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await writeFile(join(app, 'package.json'), `${JSON.stringify(manifestOf(manifest), null, 2)}\n`);
  const dist = join(app, 'dist');
  await run('the build', process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    ...['-p', join(root, 'tsconfig.json'), '--outDir', dist],
    ...[
      '--incremental',
      'false',
      '--tsBuildInfoFile',
      'null',
      '--sourceMap',
      'false',
      '--declaration',
      'false',
    ],
  ]);
  for (const path of await readdir(dist, { recursive: true }))
    if (LEFT_OUT.test(path)) await rm(join(dist, path), { recursive: true, force: true });
  return { parts: [await copyApiPage(root, dist), ...(await buildWebPage(root, dist))] };
}
