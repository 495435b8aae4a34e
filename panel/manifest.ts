// Reads the package.json of a plugin before any of its code runs.
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import { KERNEL_API } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { isObject } from './json-object.js';

export interface Manifest {
  /** of the plugin: the package `weir-plugin-x` holds the plugin x */
  readonly name: string;
  readonly version: string;
  /** path of its module */
  readonly entry: string;
  /** real path of its files, as in stack traces */
  readonly folder: string;
  /** changes with the version, and when the module is rebuilt */
  readonly stamp: string;
}

/** A reference to a third-party plugin in the config file. */
const REFERENCE = /^(path|npm):(.+)$/s;
const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?weir-plugin-([a-z][a-z0-9-]*)$/;

export const isThirdParty = (reference: string): boolean => REFERENCE.test(reference);

export interface Places {
  readonly dataDirectory: string;
  /** relative paths start here: the folder of the config file */
  readonly base: string;
}

/** The plugin name in the name of a package; undefined for any other package. */
export const pluginOfPackage = (name: string): string | undefined => PACKAGE.exec(name)?.[1];

/** The name under which to report a plugin whose manifest cannot be read. */
export const nameIn = (reference: string): string =>
  pluginOfPackage(REFERENCE.exec(reference)?.[2] ?? '') ?? reference;

/** The module that a manifest names: `exports`, as Node resolves it for an import of the package itself, then `main`. */
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
      'does not name a plugin package; plugin packages are called weir-plugin-<name> or @scope/weir-plugin-<name>',
    );
  const folder =
    kind === 'npm' ? join(dataDirectory, 'plugins', 'node_modules', target) : resolve(base, target);
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch((error: NodeJS.ErrnoException) =>
    fail(
      ['ENOENT', 'ENOTDIR'].includes(error.code ?? '')
        ? `is not there: ${folder} has no package.json; ${kind === 'npm' ? `install it with weir plugin add ${target}` : 'fix the path'}`
        : `cannot be read: ${messageOf(error)}`,
    ),
  );
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    fail(`has a package.json that is not valid JSON (${messageOf(error)}); install it again`);
  }
  if (!isObject(manifest)) return fail('has a package.json that does not hold an object; install it again');
  const { name, version, weir } = manifest;
  const plugin = typeof name === 'string' ? PACKAGE.exec(name)?.[1] : undefined;
  if (plugin === undefined)
    return fail(`is a package called ${JSON.stringify(name)}; plugin packages are called weir-plugin-<name>`);
  if (kind === 'npm' && name !== target)
    fail(`has the name ${String(name)} in its package.json; install it again`);
  if (typeof version !== 'string' || version === '')
    return fail('has no version in its package.json; its author must add one');
  if (!isObject(weir) || !Number.isInteger(weir['api']))
    return fail(
      'does not say in its package.json which kernel contract it was written for ("weir": {"api": 1}); it may not be a Weir plugin at all',
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

/** The plugin name behind a reference; taken from the package's name where the manifest cannot be read. */
export const nameOf = (reference: string, places: Places): Promise<string> =>
  readManifest(reference, places).then(
    ({ name }) => name,
    () => nameIn(reference),
  );
