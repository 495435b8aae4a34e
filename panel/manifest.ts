// What a package says of itself, read before any of its code runs.
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import { KERNEL_API } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { isObject } from './json-object.js';

export interface Manifest {
  /** of the plugin: `weir-plugin-x` is the plugin x */
  readonly name: string;
  readonly version: string;
  /** its module, a path */
  readonly entry: string;
  /** where its files are, as stack traces name it */
  readonly folder: string;
  /** changes with the version, and when the module is built again */
  readonly stamp: string;
}

/** A reference to a plugin from outside, as the config file has it. */
const REFERENCE = /^(path|npm):(.+)$/s;
const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?weir-plugin-([a-z][a-z0-9-]*)$/;

export const isOutside = (reference: string): boolean => REFERENCE.test(reference);

export interface Places {
  readonly dataDirectory: string;
  /** relative paths begin there: the folder of the config file */
  readonly base: string;
}

/** The plugin that a package of this name is; undefined when it is called otherwise. */
export const pluginOfPackage = (name: string): string | undefined => PACKAGE.exec(name)?.[1];

/** The name to report a plugin by that has not even a readable manifest. */
export const nameIn = (reference: string): string =>
  pluginOfPackage(REFERENCE.exec(reference)?.[2] ?? '') ?? reference;

/** The module of a package, as its manifest names it: `exports` as Node reads it for an import of the package itself, then `main`. */
export function entryOf({ exports, main }: Record<string, unknown>): string | undefined {
  const whole = isObject(exports) && '.' in exports ? exports['.'] : exports;
  const chosen = isObject(whole) ? (whole['import'] ?? whole['default']) : whole;
  const path = exports === undefined ? main : chosen;
  return typeof path === 'string' ? path : undefined;
}

export async function readManifest(reference: string, { dataDirectory, base }: Places): Promise<Manifest> {
  const fail = (problem: string, cause?: unknown): never => {
    throw new PluginError(`the plugin ${reference} ${problem}`, undefined, cause);
  };
  const [, kind, target = ''] = REFERENCE.exec(reference) ?? [];
  if (kind === 'npm' && !PACKAGE.test(target))
    fail(
      'has no name of a package of a plugin; these are called weir-plugin-<name>, or @scope/weir-plugin-<name>',
    );
  const folder =
    kind === 'npm' ? join(dataDirectory, 'plugins', 'node_modules', target) : resolve(base, target);
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch((error: NodeJS.ErrnoException) =>
    fail(
      ['ENOENT', 'ENOTDIR'].includes(error.code ?? '')
        ? `is not there: ${folder} has no package.json; ${kind === 'npm' ? `install it with weir plugin add ${target}` : 'correct the path'}`
        : `cannot be read: ${messageOf(error)}`,
    ),
  );
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    fail(`has a package.json that is no JSON (${messageOf(error)}); install it again`);
  }
  if (!isObject(manifest)) return fail('has a package.json that holds no object; install it again');
  const { name, version, weir } = manifest;
  const plugin = typeof name === 'string' ? PACKAGE.exec(name)?.[1] : undefined;
  if (plugin === undefined)
    return fail(
      `is a package called ${JSON.stringify(name)}; packages of plugins are called weir-plugin-<name>`,
    );
  if (kind === 'npm' && name !== target)
    fail(`calls itself ${String(name)} in its package.json; install it again`);
  if (typeof version !== 'string' || version === '')
    return fail('has no version in its package.json; its author has to say one');
  if (!isObject(weir) || !Number.isInteger(weir['api']))
    return fail(
      'does not say in its package.json which kernel contract it was written for ("weir": {"api": 1}); it may be no plugin of Weir at all',
    );
  if (weir['api'] !== KERNEL_API)
    fail(
      `was written for kernel contract ${String(weir['api'])}, this panel has ${KERNEL_API}; update ${Number(weir['api']) < KERNEL_API ? 'the plugin' : 'the panel'}`,
    );
  const path = entryOf(manifest);
  if (path === undefined)
    return fail('names no module in its package.json; its author has to add "exports": "./dist/index.js"');
  const entry = resolve(folder, path);
  const found = await stat(entry).catch(() => undefined);
  if (!found?.isFile())
    return fail(`lacks the module that its package.json names, ${path}; build it first, or install it again`);
  const stamp = `${version} ${found.mtimeMs}`;
  return { name: plugin, version, entry, folder: await realpath(folder), stamp };
}

/** The name of the plugin that a reference leads to; by the name of its package where it cannot be read. */
export const nameOf = (reference: string, places: Places): Promise<string> =>
  readManifest(reference, places).then(
    ({ name }) => name,
    () => nameIn(reference),
  );
