// NOTICES: the licence of everything in the package, word for word.
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { licenceFiles } from './modules.mjs';

/** Licences that let a package of npm be part of Weir, which is under MIT. */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
]);
/** Modules inside the core under the GPL: the core is a program of its own, and its sources must be named. */
const GPL = /modify\s+it under the terms of the GNU (?:\w+ )?General Public License/i;
const MOST_NAMES = 8;

/** Whether an SPDX expression leaves a choice that is allowed: `OR` needs one, `AND` all. */
export const isAllowed = (license) =>
  typeof license === 'string' &&
  license
    .replaceAll(/[()]/g, '')
    .split(/ OR /)
    .some((choice) => choice.split(/ AND /).every((one) => ALLOWED.has(one.trim())));

export function refuseLicences(packages) {
  const refused = packages.filter(({ license }) => !isAllowed(license));
  if (refused.length > 0)
    throw new Error(
      `packages whose licence may not be part of Weir: ${refused
        .slice(0, MOST_NAMES)
        .map(({ name, version, license }) => `${name} ${version} (${license || 'none'})`)
        .join(', ')}`,
    );
}

async function textOf(folder) {
  const names = await licenceFiles(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n');
}

async function section({ name, version, license = '', folder }) {
  const text = await textOf(folder);
  return {
    title: `${name} ${version}`,
    license,
    text: text || `Licence: ${license}. The package has no text of it.`,
  };
}

const rule = '='.repeat(78);
const written = ({ title, text }) => `${rule}\n${title}\n${rule}\n\n${text}\n`;

export async function writeNotices(folder, { packages, runtime, core }) {
  refuseLicences(packages);
  const modules = await Promise.all(core.modules.map(section));
  const silent = modules.filter(({ text }) => text.startsWith('Licence: '));
  if (silent.length > 0)
    throw new Error(`Go modules without a licence: ${silent.map(({ title }) => title).join(', ')}`);
  const gpl = modules.filter(({ text }) => GPL.test(text)).map(({ title }) => title);
  const node = await readFile(join(runtime.folder, 'LICENSE'), 'utf8');
  const go = await readFile(join(core.goRoot, 'LICENSE'), 'utf8');
  const addons = await readdir(join(folder, 'app', 'node_modules'));
  const text = `What this package contains besides Weir, which is under the MIT licence (LICENSE).

bin/node: Node.js ${runtime.version}.
bin/xray: Xray-core ${core.version}, under the Mozilla Public License 2.0, unchanged. It is a program of its own, which Weir
starts and talks to over a socket. It was built with ${core.goVersion} from the Go modules that core-source/go.mod and
core-source/go.sum name. These get all of the sources, and build it again:

  cd core-source && go mod download
  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o xray github.com/xtls/xray-core/main

Of these modules, the following are under the GNU General Public License 3 or later: ${gpl.join(', ') || 'none'}.
app/node_modules: ${packages.length} packages of npm (${addons.length} folders), none of them under the GPL or the AGPL.

`;
  const sections = [
    { title: `Node.js ${runtime.version}`, text: node.trim() },
    ...modules,
    { title: `Go ${core.goVersion}`, text: go.trim() },
    ...(await Promise.all(packages.map(section))),
  ];
  await writeFile(join(folder, 'NOTICES'), `${text}${sections.map(written).join('\n')}`);
  // The modules name the GPL without its text.
  if (gpl.length > 0)
    await copyFile(join(root, 'install', 'GPL-3.0.txt'), join(folder, 'core-source', 'GPL-3.0.txt'));
}
