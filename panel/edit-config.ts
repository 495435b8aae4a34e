// Writes into the config file: only what is asked for changes, all at once or not at all.
import { readFile, realpath, rm } from 'node:fs/promises';
import { messageOf } from '../kernel/errors/errors.js';
import { replaceFile } from '../file/replace.js';
import { isObject } from './json-object.js';

/** The section `plugins`, as the file has it. */
export type PluginSection = Readonly<Record<string, unknown>>;

export interface Edited {
  readonly path: string;
  /** nothing had to be written */
  readonly unchanged: boolean;
  /** Puts back what was there before. */
  readonly undo: () => Promise<void>;
}

function parsed(path: string, text: string): Record<string, unknown> {
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // What the parser says quotes the file, where a password may stand.
    throw new Error(`${path} is no JSON; correct it first`);
  }
  if (!isObject(whole) || !isObject(whole['plugins'] ?? {}))
    throw new Error(`${path} must hold an object, and "plugins" in it too; correct it first`);
  return whole;
}

/** Lets `change` make the section `plugins` of the file at `path` anew; a file that is not there is made. Everything else in it stays. */
export async function editPlugins(
  path: string,
  change: (plugins: PluginSection) => PluginSection,
): Promise<Edited> {
  // One that is a link stays one.
  const target = await realpath(path).catch(() => path);
  const read = (): Promise<string | undefined> =>
    readFile(target, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
    });
  const before = await read();
  const whole = before === undefined ? {} : parsed(path, before);
  const former = (whole['plugins'] ?? {}) as PluginSection;
  const plugins = change(former);
  const indent = /^\{\r?\n([ \t]+)"/.exec(before ?? '')?.[1] ?? '  ';
  const after = `${JSON.stringify({ ...whole, plugins }, undefined, indent)}\n`;
  if (before !== undefined && JSON.stringify(former) === JSON.stringify(plugins))
    return { path, unchanged: true, undo: async () => undefined };
  await replaceFile(target, after);
  return {
    path,
    unchanged: false,
    undo: () => (before === undefined ? rm(target, { force: true }) : replaceFile(target, before)),
  };
}
