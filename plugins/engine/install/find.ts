// Where the core comes from: the first place that has one.
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { buildCore, builtCore, type Progress } from './build.js';

export interface CorePlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** the panel's data folder; a core put into its `bin/` by hand wins over PATH */
  readonly dataDirectory: string;
  readonly log: Progress;
}
export type FoundCore = { readonly binary: string; readonly source: 'WEIR_ENGINE_BIN' | 'data' | 'PATH' | 'cache' | 'built' };

/** A folder may be "executable" too, and one called xray is not rare. */
const isProgram = (path: string): Promise<boolean> => Promise.all([access(path, constants.X_OK), stat(path)]).then(([, found]) => found.isFile(), () => false);

async function onPath(env: CorePlaces['env']): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) if (folder !== '' && (await isProgram(join(folder, 'xray')))) return resolve(folder, 'xray');
  return undefined;
}

/** Rejects when WEIR_ENGINE_BIN names nothing that can be run; `missing` is a sentence with the ways out. */
export async function findCore({ env, dataDirectory, log }: CorePlaces): Promise<FoundCore | { readonly missing: string }> {
  const chosen = env['WEIR_ENGINE_BIN'];
  if (chosen) {
    if (!(await isProgram(chosen))) throw new Error(`WEIR_ENGINE_BIN is ${chosen}, which is no program that can be run; correct it or leave it out`);
    return { binary: resolve(chosen), source: 'WEIR_ENGINE_BIN' };
  }
  const own = resolve(dataDirectory, 'bin', 'xray');
  if (await isProgram(own)) return { binary: own, source: 'data' };
  const installed = await onPath(env);
  if (installed) return { binary: installed, source: 'PATH' };
  const cached = builtCore(env);
  if (await isProgram(cached)) return { binary: cached, source: 'cache' };
  if (env['WEIR_ENGINE_INSTALL'] === 'off') return { missing: `no core: neither WEIR_ENGINE_BIN nor ${own} nor xray on PATH, and WEIR_ENGINE_INSTALL=off forbids to build one` };
  const outcome = await buildCore(env, log);
  return 'binary' in outcome ? { binary: outcome.binary, source: 'built' } : { missing: `no core: neither WEIR_ENGINE_BIN nor ${own} nor xray on PATH, and none could be built: ${outcome.why}` };
}
