// Which plugins from outside have ended the process soon after its start, in a small file of the data folder. One that did
// so twice is left out until somebody changes something: else the panel would come and go for ever. Written at once and
// synchronously, for nothing comes after it; only what is known to be a plugin's doing is written down.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginFiles } from './plugin-files.js';

const FILE = 'plugin-ends.json';
const MOST = 2;

interface Ends {
  readonly times: number;
  /** of the plugin, as it was then */
  readonly stamp: string;
  /** what it did the last time, as in "it called process.exit()" */
  readonly how: string;
  readonly at: string;
}
type Book = Readonly<Record<string, Ends>>;

const isEnds = (value: unknown): value is Ends =>
  typeof value === 'object' &&
  value !== null &&
  ['stamp', 'how', 'at'].every((key) => typeof (value as Record<string, unknown>)[key] === 'string') &&
  typeof (value as Ends).times === 'number';

/** A file that is not there, or makes no sense, says nothing against anybody. */
function read(directory: string): Book {
  try {
    const book: unknown = JSON.parse(readFileSync(join(directory, FILE), 'utf8'));
    return Object.fromEntries(Object.entries(book as object).filter(([, entry]) => isEnds(entry)));
  } catch {
    return {};
  }
}

/** Whole or not at all. */
function write(directory: string, book: Book): void {
  const path = join(directory, FILE);
  if (Object.keys(book).length === 0) {
    rmSync(path, { force: true });
    return;
  }
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(book, undefined, 2)}\n`, { mode: 0o600, flush: true } as object);
  renameSync(draft, path);
}

/** Writes an end down. Never throws: a full disk must not keep the process from its end. */
export function notePluginEnd(directory: string, { name, stamp }: PluginFiles, how: string): void {
  try {
    const book = read(directory);
    const before = book[name]?.stamp === stamp ? book[name].times : 0;
    write(directory, { ...book, [name]: { times: before + 1, stamp, how, at: new Date().toISOString() } });
  } catch {
    // It is tried once more than it should be.
  }
}

/** Nothing stands against these any more: they ran for a while, or somebody switched them on. Never throws. */
export function forgetPluginEnds(directory: string, names: readonly string[]): void {
  try {
    const book = read(directory);
    const left = Object.entries(book).filter(([name]) => !names.includes(name));
    if (left.length < Object.keys(book).length) write(directory, Object.fromEntries(left));
  } catch {
    // What is in the file still holds.
  }
}

/** Why this plugin is left out, in a sentence; undefined while nothing stands against it as it is now. */
export function endsAgainst(directory: string, name: string, stamp: string): string | undefined {
  const ends = read(directory)[name];
  if (!ends || ends.stamp !== stamp || ends.times < MOST) return undefined;
  return `the plugin ${name} has ended the process ${ends.times} times within a minute of starting (the last time, ${ends.at}, ${ends.how}); update it, or switch it on to try it again`;
}
