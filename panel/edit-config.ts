// Edits the config file: only the requested change, all of it or nothing.
import { readFile, realpath, rm } from 'node:fs/promises';
import { messageOf } from '../kernel/errors/errors.js';
import { replaceFile } from '../file/replace.js';
import { isObject } from './json-object.js';

/** The section `plugins`, as in the file. */
export type PluginSection = Readonly<Record<string, unknown>>;

export interface Edited {
  readonly path: string;
  /** true when nothing had to be written */
  readonly unchanged: boolean;
  /** Restores the previous content. */
  readonly undo: () => Promise<void>;
}

function parsed(path: string, text: string): Record<string, unknown> {
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser's message quotes the file, which may hold a password.
    throw new Error(`${path} is not valid JSON; fix it first`);
  }
  if (!isObject(whole) || !isObject(whole['plugins'] ?? {}))
    throw new Error(`${path} must hold an object, and "plugins" in it too; fix it first`);
  return whole;
}

/** Replaces the section `plugins` of the file at `path` with what `change` returns; creates a missing file. Keeps everything else. */
export async function editPlugins(
  path: string,
  change: (plugins: PluginSection) => PluginSection,
): Promise<Edited> {
  // A symbolic link stays a link.
  const target = await realpath(path).catch(() => path);
  const read = (): Promise<string | undefined> =>
    readFile(target, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
    });
  const before = await read();
  const whole = before === undefined ? {} : parsed(path, before);
  const previous = (whole['plugins'] ?? {}) as PluginSection;
  const plugins = change(previous);
  const indent = /^\{\r?\n([ \t]+)"/.exec(before ?? '')?.[1] ?? '  ';
  const after = `${JSON.stringify({ ...whole, plugins }, undefined, indent)}\n`;
  if (before !== undefined && JSON.stringify(previous) === JSON.stringify(plugins))
    return { path, unchanged: true, undo: async () => undefined };
  await replaceFile(target, after);
  return {
    path,
    unchanged: false,
    undo: () => (before === undefined ? rm(target, { force: true }) : replaceFile(target, before)),
  };
}
