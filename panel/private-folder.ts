// The data folder is its owner's alone. One that was made with other modes, by hand or by an older release, is put right
// when the panel starts.
import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import type { Log } from '../kernel/log/log.js';
import { ConfigError } from './variables.js';

/** What the panel and its core write: the pattern of a file's name, by folder. Folders of these names may be another program's. */
const OWN: Readonly<Record<string, RegExp>> = {
  '': /^(?:weir\.sqlite|panel\.|first-login\.txt$|secrets\.key)/,
  engine: /^(?:config\.json|core\.json|api\.sock|\w+\.log)$/,
  backups: /^before-.*\.sqlite$/,
  processes: /^[a-z\d-]+$/,
  uploads: /^request-/,
  'time-series': /\.series(?:\.unreadable)?$/,
};
/** What else lies in a folder that is the panel's alone: the config file, programs, plugins, certificates. */
const USUAL =
  /^(?:engine|backups|time-series|processes|uploads|weir\.json|bin|plugins|certs?|certificates|ssl|tls|acme|lost\+found|.*\.(?:pem|crt|cer|key))$/i;
const OTHERS = 0o077;

interface Entry {
  readonly path: string;
  readonly mode: number;
}

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** What others may open and should not; links are left alone, for they lead anywhere. */
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

/** Rejects with ConfigError when something cannot be made private. A folder that is not there will be made private. */
export async function makePrivate(directory: string, log: Log): Promise<void> {
  const folder = await stat(directory).catch(() => undefined);
  // What lies in a private folder is out of reach, whatever its mode.
  if (!folder?.isDirectory() || (folder.mode & OTHERS) === 0) return;
  const own = await Promise.all(
    Object.entries(OWN).map(async ([name, pattern]) =>
      (await entriesOf(join(directory, name)))
        .filter((entry) => pattern.test(entry))
        .map((entry) => join(directory, name, entry)),
    ),
  );
  for (const entry of await openEntries(own.flat())) await mend(entry, log);
  const strangers = (await entriesOf(directory)).filter((name) => !OWN['']?.test(name) && !USUAL.test(name));
  // Somebody may have named a folder that others need, such as /srv or a home.
  if (strangers.length > 0)
    log.warn(
      "the data folder is open to other users, and holds more than the panel; what is the panel's in it is private, but give it a folder of its own",
      { directory, mode: octal(folder.mode & 0o7777), holds: strangers.slice(0, 5) },
    );
  else await mend({ path: directory, mode: folder.mode & 0o7777 }, log);
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');

async function mend({ path, mode }: Entry, log: Log): Promise<void> {
  const wanted = mode & ~OTHERS;
  const problem = await chmod(path, wanted).then(() => undefined, messageOf);
  if (problem !== undefined)
    throw new ConfigError([
      `${path} is open to other users (mode ${octal(mode)}) and cannot be made private: ${problem}; run \`chmod go= ${path}\` as its owner, and give everything in the data folder to the panel's user`,
    ]);
  const { mode: now } = await stat(path);
  if ((now & OTHERS) === 0)
    log.warn('other users could open this; it is private now', { path, mode: octal(mode) });
  else
    log.error(
      'other users can open this, and its file system keeps no modes; move the data folder to another',
      {
        path,
        mode: octal(mode),
      },
    );
}
