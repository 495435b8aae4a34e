// Keeps the data folder private to its owner. Wrong modes, set by hand or by an older release, are fixed when the panel
// starts.
import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import type { Log } from '../kernel/log/log.js';
import { ConfigError } from './variables.js';

/** Files that the panel and its core write: patterns of names, by folder. Other programs may use the same folder names. */
const OWN: Readonly<Record<string, RegExp>> = {
  '': /^(?:weir\.sqlite|panel\.|first-login\.txt$|secrets\.key|restore)/,
  engine: /^(?:config\.json|core\.json|api\.sock|\w+\.log)$/,
  backups: /^(?:before-.*\.sqlite|weir_.*|\.schedule\.json)$/,
  processes: /^[a-z\d-]+$/,
  sidecars: /^[a-z\d-]+(?:\.key)?$/,
  updates: /^(?:\w+\.json|releases\.json\.minisig|package.*)$/,
  uploads: /^request-/,
  'ban-guard': /^(?:limit|logins)\.log/,
  'time-series': /\.series(?:\.unreadable)?$/,
};
/** Other files in a folder that only the panel uses: the config file, programs, plugins, certificates. */
const USUAL =
  /^(?:engine|backups|time-series|processes|sidecars|geodata|snapshots|updates|uploads|ban-guard|weir\.json|bin|plugins|certs?|certificates|ssl|tls|acme|lost\+found|.*\.(?:pem|crt|cer|key))$/i;
const OTHERS = 0o077;

interface Entry {
  readonly path: string;
  readonly mode: number;
}

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Entries that other users can open but should not; links are skipped, because they can point anywhere. */
async function openEntries(paths: readonly string[]): Promise<Entry[]> {
  const found = await Promise.all(
    paths.map(async (path) => ({ path, entry: await lstat(path).catch(() => undefined) })),
  );
  return found.flatMap(({ path, entry }) =>
    entry && !entry.isSymbolicLink() && (entry.mode & OTHERS) !== 0
      ? [{ path, mode: entry.mode & 0o7777 }]
      : [],
  );
}

/** Rejects with ConfigError when something cannot be made private. A folder that does not exist yet is created private. */
export async function makePrivate(directory: string, log: Log): Promise<void> {
  const folder = await stat(directory).catch(() => undefined);
  // Files in a private folder are out of reach, whatever their modes.
  if (!folder?.isDirectory() || (folder.mode & OTHERS) === 0) return;
  const own = await Promise.all(
    Object.entries(OWN).map(async ([name, pattern]) =>
      (await entriesOf(join(directory, name)))
        .filter((entry) => pattern.test(entry))
        .map((entry) => join(directory, name, entry)),
    ),
  );
  for (const entry of await openEntries(own.flat())) await restrict(entry, log);
  const foreign = (await entriesOf(directory)).filter((name) => !OWN['']?.test(name) && !USUAL.test(name));
  // The data folder may be one that others need, such as /srv or a home directory.
  if (foreign.length > 0)
    log.warn(
      "other users can open the data folder, and it holds files of other programs; the panel's files in it are private, but give the panel a folder of its own",
      { directory, mode: octal(folder.mode & 0o7777), holds: foreign.slice(0, 5) },
    );
  else await restrict({ path: directory, mode: folder.mode & 0o7777 }, log);
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');

async function restrict({ path, mode }: Entry, log: Log): Promise<void> {
  const wanted = mode & ~OTHERS;
  const problem = await chmod(path, wanted).then(() => undefined, messageOf);
  if (problem !== undefined)
    throw new ConfigError([
      `other users can open ${path} (mode ${octal(mode)}) and it cannot be made private: ${problem}; run \`chmod go= ${path}\` as its owner, and give everything in the data folder to the panel's user`,
    ]);
  const { mode: now } = await stat(path);
  if ((now & OTHERS) === 0)
    log.warn('other users could open this path; it is private now', { path, mode: octal(mode) });
  else
    log.error(
      'other users can open this path, and its file system has no modes; move the data folder to another file system',
      {
        path,
        mode: octal(mode),
      },
    );
}
