// The project that `weir dev` runs: this tree or the folder of a plugin, how to build it, and how to start the panel with it.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../kernel/errors/errors.js';
import { isObject } from '../../panel/json-object.js';
import { entryOf, pluginOfPackage } from '../../panel/manifest.js';
import type { Environment } from '../../panel/variables.js';
import type { Recipe } from './builder.js';
import type { Watched } from './snapshot.js';

export interface Project {
  /** for a person */
  readonly about: string;
  readonly dataDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  /** name of the plugin under development */
  readonly plugin: string | undefined;
  readonly recipe: Recipe;
  /** files that the panel may load */
  readonly runs: Watched;
  /** whether there is something to run before the first build */
  readonly isBuilt: boolean;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TREE = ['schema', 'kernel', 'drivers', 'panel', 'cli', 'plugins'];
/** Config file of the panel with a plugin under development, beside the weir.json of its data folder. */
const CONFIG = 'dev.json';
/** A build script that only runs the compiler. It is run without npm, which takes longer than the compiler. */
const PLAIN_COMPILER = /^tsc((?:\s+[\w./=-]+)*)\s*$/;

/** The compiler of the project itself, else of this tree. */
function compilerFor(folder: string): string {
  for (const start of [folder, ROOT]) {
    for (let at = start; ; at = dirname(at)) {
      const path = join(at, 'node_modules', 'typescript', 'bin', 'tsc');
      if (existsSync(path)) return path;
      if (dirname(at) === at) break;
    }
  }
  throw new Error(`there is no TypeScript in ${folder}; install it: npm install --save-dev typescript`);
}

async function jsonOf(path: string, missing?: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (missing === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(missing ?? `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
  if (!isObject(value)) throw new Error(`${path} must hold an object`);
  return value;
}

function recipeOf(folder: string, manifest: Readonly<Record<string, unknown>>, data: string): Recipe {
  const scripts = isObject(manifest['scripts']) ? manifest['scripts'] : {};
  const script = typeof scripts['build'] === 'string' ? scripts['build'] : undefined;
  const entry = relative(folder, resolve(folder, entryOf(manifest) ?? ''));
  // The folder of the built module, or only the module where it lies beside its source.
  const [output = ''] = entry.split(sep);
  const plain = PLAIN_COMPILER.exec(script ?? 'tsc');
  const compiled = plain !== null && existsSync(join(folder, 'tsconfig.json'));
  const command = compiled
    ? [process.execPath, compilerFor(folder), ...(plain[1] ?? '').split(/\s+/).filter(Boolean)]
    : script === undefined
      ? []
      : ['npm', 'run', '--silent', 'build'];
  const made = command.length === 0 ? [data] : [data, join(folder, output)];
  return {
    folder,
    command,
    watched: [folder],
    // Output that the compiler writes beside its source is not a source.
    isSource: (path) =>
      !made.some((other) => path === other || path.startsWith(other + sep)) &&
      !(compiled && path.endsWith('js') && existsSync(path.replace(/js$/, 'ts'))),
  };
}

/** Writes the config file of the panel: the data folder's weir.json plus the plugin. */
async function writeConfig(data: string, folder: string): Promise<string> {
  const path = join(data, CONFIG);
  const own = await jsonOf(join(data, 'weir.json'));
  const plugins = isObject(own['plugins']) ? own['plugins'] : {};
  const reference = `path:${folder}`;
  const config = { ...own, plugins: { ...plugins, [reference]: plugins[reference] ?? true } };
  await writeFile(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  return path;
}

/** Reads the project. Rejects with a sentence. */
export async function prepare(env: Environment, plugin: string | undefined, data: string): Promise<Project> {
  const dataDirectory = resolve(data);
  const environment = { ...env, WEIR_DATA_DIR: dataDirectory, WEIR_CONFIG: '' };
  if (plugin === undefined) {
    if (!existsSync(join(ROOT, 'tsconfig.json')))
      throw new Error(
        'Weir is installed as a package, without its source tree; name the folder of a plugin: weir dev ../my-plugin',
      );
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    return {
      about: `this tree, ${ROOT}`,
      dataDirectory,
      environment,
      plugin: undefined,
      recipe: {
        folder: ROOT,
        command: [process.execPath, compilerFor(ROOT), '-p', 'tsconfig.json'],
        watched: [...TREE, 'config'].map((name) => join(ROOT, name)),
        isSource: (path) => /\.(?:ts|json)$/.test(path),
      },
      runs: { base: ROOT, folders: [...TREE.map((name) => join('dist', name)), 'config'], except: [] },
      isBuilt: true,
    };
  }
  const folder = resolve(plugin);
  const manifest = await jsonOf(
    join(folder, 'package.json'),
    `${folder} has no package.json; name the folder of a plugin`,
  );
  const name = pluginOfPackage(String(manifest['name']));
  if (name === undefined)
    throw new Error(
      `${folder} is a package called ${JSON.stringify(manifest['name'])}; plugin packages are called weir-plugin-<name> or @scope/weir-plugin-<name>`,
    );
  const recipe = recipeOf(folder, manifest, dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  return {
    about: `the plugin ${name}, ${folder}`,
    dataDirectory,
    environment: { ...environment, WEIR_CONFIG: await writeConfig(dataDirectory, folder) },
    plugin: name,
    recipe,
    runs: { base: folder, folders: ['.'], except: [dataDirectory] },
    isBuilt: false,
  };
}
