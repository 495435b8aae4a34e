// Third-party plugins, as packages in a folder outside the source tree.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Kernel } from '../../kernel/kernel.js';
import { bootPanel } from '../../panel/boot.js';
import type { Limits } from '../../kernel/plugin/limits.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { freePort } from '../harness/api.js';

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A folder that goes with the test. */
export async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'weir-outside-')));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** The source of a plugin; `rest` are further parts of its declaration, `imports` further names of `@weir-panel/weir/kernel`. */
export const source = (name: string, rest = '', imports = ''): string =>
  `import { definePlugin${imports && `, ${imports}`} } from '@weir-panel/weir/kernel';\nexport default definePlugin({ name: '${name}', version: '0.0.0', api: 1, about: 'For a test.', ${rest} });\n`;

/** A whole package `weir-plugin-<name>` in a folder of that name; returns its reference. */
export async function thirdParty(
  folder: string,
  name: string,
  module: string = source(name),
  manifest: object = {},
): Promise<string> {
  await writeFiles(join(folder, name), {
    'index.js': module,
    'package.json': {
      name: `weir-plugin-${name}`,
      version: '1.2.3',
      type: 'module',
      exports: './index.js',
      weir: { api: 1 },
      ...manifest,
    },
  });
  return `path:${join(folder, name)}`;
}

export interface Booted extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly log: readonly LogLine[];
  /** name, state and reason of one plugin */
  state(name: string): { readonly state: string; readonly reason: string } | undefined;
}

/** A kernel with what a weir.json in `folder` names and no built-in plugin; third-party plugins meet those only in whole panels. */
export async function bootWith(
  folder: string,
  plugins: Readonly<Record<string, unknown>>,
  limits: Partial<Limits> = {},
): Promise<Booted> {
  await writeFiles(folder, { 'weir.json': { plugins } });
  const env = { WEIR_DATA_DIR: folder, WEIR_PANEL_PORT: String(await freePort()), WEIR_LOG_LEVEL: 'debug' };
  const chosen = await choosePlugins(env, await readConfigFile(env));
  const log: LogLine[] = [];
  const kernel = await bootPanel({
    ...chosen,
    plugins: chosen.plugins.filter(({ outside }) => outside),
    env,
    limits,
    selfChecks: true,
    write: (line) => void log.push(JSON.parse(line) as LogLine),
  });
  return {
    kernel,
    log,
    state: (name) => kernel.plugins().find((plugin) => plugin.name === name),
    [Symbol.asyncDispose]: () => kernel.stop('end of test'),
  };
}
