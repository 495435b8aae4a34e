// Records, in a small file of the data folder, which third-party plugins have ended the process soon after its start. A
// plugin that did so twice is left out until someone changes something: otherwise the panel would crash and restart
// forever. Writes are synchronous, because the process exits next. Only exits that a plugin is known to cause are recorded.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginFiles } from './plugin-files.js';

const FILE = 'plugin-ends.json';
const MOST = 2;

interface Ends {
  readonly times: number;
  /** stamp of the plugin's files at that time */
  readonly stamp: string;
  /** what it did the last time, such as "it called process.exit()" */
  readonly how: string;
  readonly at: string;
}
type Book = Readonly<Record<string, Ends>>;

const isEnds = (value: unknown): value is Ends =>
  typeof value === 'object' &&
  value !== null &&
  ['stamp', 'how', 'at'].every((key) => typeof (value as Record<string, unknown>)[key] === 'string') &&
  typeof (value as Ends).times === 'number';

/** A missing or unreadable file counts as empty. */
function read(directory: string): Book {
  try {
    const book: unknown = JSON.parse(readFileSync(join(directory, FILE), 'utf8'));
    return Object.fromEntries(Object.entries(book as object).filter(([, entry]) => isEnds(entry)));
  } catch {
    return {};
  }
}

/** Writes the whole file or nothing. */
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

/** Records an exit. Never throws: a full disk must not prevent the exit. */
export function recordPluginExit(directory: string, { name, stamp }: PluginFiles, how: string): void {
  try {
    const book = read(directory);
    const before = book[name]?.stamp === stamp ? book[name].times : 0;
    write(directory, { ...book, [name]: { times: before + 1, stamp, how, at: new Date().toISOString() } });
  } catch {
    // The plugin gets one more try than it should.
  }
}

/** Deletes the records of these plugins: they ran for a while, or someone enabled them. Never throws. */
export function forgetPluginExits(directory: string, names: readonly string[]): void {
  try {
    const book = read(directory);
    const left = Object.entries(book).filter(([name]) => !names.includes(name));
    if (left.length < Object.keys(book).length) write(directory, Object.fromEntries(left));
  } catch {
    // The file keeps its records.
  }
}

/** Why this plugin is left out, in a sentence; undefined while nothing is recorded for its current files. */
export function repeatedExits(directory: string, name: string, stamp: string): string | undefined {
  const ends = read(directory)[name];
  if (!ends || ends.stamp !== stamp || ends.times < MOST) return undefined;
  return `the plugin ${name} has ended the process ${ends.times} times within a minute of starting (the last time, ${ends.at}, ${ends.how}); update it, or enable it to try it again`;
}
