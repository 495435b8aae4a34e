// Finds the core: the first place that has one.
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { buildCore } from './build.js';
import { installedCore, readChoice } from './chosen-core.js';
import { downloadCore } from './download.js';
import type { Timeouts } from './fetch.js';
import { type Environment, keptCore, PROGRAM, type Progress } from './release.js';

/** The engine's boot settings about its core. */
export interface CoreConfig {
  readonly binary?: string | undefined;
  readonly install: 'on' | 'off';
  readonly releases: string;
  readonly sha256?: string | undefined;
}
export interface CorePlaces {
  readonly config: CoreConfig;
  /** for PATH, the cache folder and Go */
  readonly env?: Environment;
  /** the panel's data folder; a core in its `bin/` takes precedence over PATH */
  readonly dataDirectory: string;
  readonly log: Progress;
  /** with a server of releases; for tests */
  readonly timeouts?: Timeouts;
}
export type FoundCore = {
  readonly binary: string;
  readonly source: 'WEIR_ENGINE_BIN' | 'installed' | 'data' | 'PATH' | 'cache' | 'downloaded' | 'built';
};

/** Excludes folders: they may be "executable" too, and one called xray is not rare. */
const isProgram = (path: string): Promise<boolean> =>
  Promise.all([access(path, constants.X_OK), stat(path)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );

async function onPath(env: Environment): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter))
    if (folder !== '' && (await isProgram(join(folder, 'xray')))) return resolve(folder, 'xray');
  return undefined;
}

/** Rejects when WEIR_ENGINE_BIN is not executable; `missing` is a message with the possible fixes. */
export async function findCore({
  config,
  env = process.env,
  dataDirectory,
  log,
  timeouts,
}: CorePlaces): Promise<FoundCore | { readonly missing: string }> {
  const chosen = config.binary;
  if (chosen) {
    if (!(await isProgram(chosen)))
      throw new Error(
        `WEIR_ENGINE_BIN is ${chosen}, which is not an executable program; fix it or remove it`,
      );
    return { binary: resolve(chosen), source: 'WEIR_ENGINE_BIN' };
  }
  const { chosen: version } = await readChoice(dataDirectory, log);
  if (version !== '') {
    const installed = resolve(installedCore(dataDirectory, version));
    if (await isProgram(installed)) return { binary: installed, source: 'installed' };
    log.warn('the chosen core is not there any more; using another one', { binary: installed });
  }
  const own = resolve(dataDirectory, 'bin', PROGRAM);
  if (await isProgram(own)) return { binary: own, source: 'data' };
  const installed = await onPath(env);
  if (installed) return { binary: installed, source: 'PATH' };
  const kept = keptCore(env);
  if (await isProgram(kept)) return { binary: kept, source: 'cache' };
  const nowhere = `no core: neither WEIR_ENGINE_BIN nor ${own} nor xray on PATH`;
  if (config.install === 'off')
    return { missing: `${nowhere}, and WEIR_ENGINE_INSTALL=off forbids downloading or building one` };
  const downloaded = await downloadCore(config, keptCore(env), log, timeouts);
  if ('binary' in downloaded) return { binary: downloaded.binary, source: 'downloaded' };
  log.warn('the core could not be downloaded; building it, if Go is installed', {
    reason: downloaded.why,
  });
  const built = await buildCore(env, log);
  return 'binary' in built
    ? { binary: built.binary, source: 'built' }
    : {
        missing: `${nowhere}, none could be downloaded (${downloaded.why}), and none could be built: ${built.why}`,
      };
}
