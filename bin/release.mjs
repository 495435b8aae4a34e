// Signs releases for updates from the panel: `npm run release -- key`, then `npm run release -- index`. docs/install.md
// ("Publish releases") says how, and describes the format.
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MOST_INDEX, readIndex } from '../dist/plugins/updates/release-index.js';
import { readPublicKeys } from '../dist/plugins/updates/minisign.js';
import { newSigningKey, readSigningKey, signatureOf } from '../dist/plugins/updates/signing-key.js';
import { digestOf } from './package/archive.mjs';
import { commitOf, say } from './package/target.mjs';
import { root } from './setup.mjs';

const PACKAGE = /^weir-(.+)-(linux-(?:x64|arm64))\.tar\.gz$/;
const FORMAT = 'weir-releases-1';
const DAY_MS = 24 * 3_600_000;

async function makeKey({ file }) {
  if (file === undefined) throw new Error('name the new file with --file');
  const text = newSigningKey();
  // An existing key is never overwritten: panels trust it.
  await writeFile(resolve(file), text, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`${readSigningKey(text).publicText}\n`);
}

const readText = (path) =>
  readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** Packages of the folder, by their versions. */
async function packagesIn(folder, base) {
  const found = new Map();
  for (const name of (await readdir(folder)).sort()) {
    const [, version, platform] = PACKAGE.exec(name) ?? [];
    if (version === undefined) continue;
    const path = join(folder, name);
    const file = {
      platform,
      url: base === undefined ? name : `${base.replace(/\/+$/, '')}/${name}`,
      size: (await stat(path)).size,
      sha256: await digestOf(path),
    };
    found.set(version, [...(found.get(version) ?? []), file]);
  }
  if (found.size === 0) throw new Error(`${folder} has no package; npm run package makes one`);
  return found;
}

const otherFiles = (known, files) =>
  (known?.files ?? []).filter(({ platform }) => !files.some((file) => file.platform === platform));

/** Whole or not at all: a server may read the file at any time. */
async function replace(path, content) {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

async function makeIndex({ packages, key, unsigned, channel, minimum, notes, expires, url }) {
  if ((key === undefined) !== unsigned) throw new Error('name the key with --key, or say --unsigned');
  const folder = resolve(packages);
  const path = join(folder, 'releases.json');
  const before = JSON.parse((await readText(path)) ?? '{"number":0,"releases":[]}');
  const text = notes === undefined ? undefined : (await readFile(resolve(notes), 'utf8')).trim();
  const { commit } = await commitOf(root);
  const releases = new Map(before.releases.map((release) => [release.version, release]));
  for (const [version, files] of await packagesIn(folder, url)) {
    const known = releases.get(version);
    // What an index has published once is described once: only its packages are read again.
    releases.set(version, {
      version,
      channel: known?.channel ?? channel,
      ...(known?.commit || !/^[0-9a-f]{40}$/.test(commit) ? known && { commit: known.commit } : { commit }),
      ...((known?.minimum ?? minimum) && { minimum: known?.minimum ?? minimum }),
      notes: known?.notes ?? text ?? '',
      // The package for another machine may have been built elsewhere, and is not in the folder any more.
      files: [...files, ...otherFiles(known, files)],
    });
  }
  const now = Date.now();
  const index = {
    format: FORMAT,
    number: before.number + 1,
    createdAt: now,
    ...(expires !== undefined && { expiresAt: now + Number(expires) * DAY_MS }),
    releases: [...releases.values()],
  };
  const bytes = Buffer.from(`${JSON.stringify(index, null, 2)}\n`);
  if (bytes.length > MOST_INDEX)
    throw new Error('the index is larger than 1 MiB; remove old releases from it');
  // With a throw-away key, so that a wrong index is found also where somebody else signs it.
  const signer = readSigningKey(unsigned ? newSigningKey() : await readFile(resolve(key), 'utf8'));
  const signature = signatureOf(bytes, signer, `number ${index.number}, ${new Date(now).toISOString()}`);
  readIndex(bytes, signature, readPublicKeys(signer.publicText), now);
  await replace(path, bytes);
  if (!unsigned) await replace(`${path}.minisig`, signature);
  say(`${path}: number ${index.number}, ${[...releases.keys()].join(', ')}`);
  say(unsigned ? `sign it: minisign -Sm ${path}` : `signed with ${signer.publicText}`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: 'string' },
    key: { type: 'string' },
    packages: { type: 'string', default: 'dist/packages' },
    channel: { type: 'string', default: 'stable' },
    minimum: { type: 'string' },
    notes: { type: 'string' },
    expires: { type: 'string' },
    url: { type: 'string' },
    unsigned: { type: 'boolean', default: false },
  },
});
const [command] = positionals;
const work = { key: makeKey, index: makeIndex }[command];
if (work)
  await work(values).catch((error) => {
    say(error.message);
    process.exitCode = 1;
  });
else {
  say('npm run release -- key --file <file>, or: npm run release -- index --key <file>');
  process.exitCode = 2;
}
