// Finds the program of a sidecar: the first place that has one.
import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { SidecarProgram } from './contract.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A program, with a mark that changes when the file is replaced. */
export interface FoundProgram {
  readonly path: string;
  readonly mark: string;
}
export type Found = FoundProgram | { readonly missing: string };

/** Excludes folders: they may be "executable" too. */
async function programAt(path: string): Promise<FoundProgram | undefined> {
  try {
    const [, facts] = await Promise.all([access(path, constants.X_OK), stat(path)]);
    if (!facts.isFile()) return undefined;
    return { path: resolve(path), mark: `${facts.dev}-${facts.ino}-${facts.size}-${facts.mtimeMs}` };
  } catch {
    return undefined;
  }
}

/** Where a downloaded release lies: every panel of this user uses the same. */
export const keptProgram = (env: Environment, name: string, version: string): string =>
  join(
    env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'weir',
    'sidecars',
    `${name}-${version}-${process.platform}-${process.arch}`,
    name,
  );

/** Looks on this machine; `missing` is a message with the possible fixes. */
export async function findProgram(
  { name, variable, chosen, release, hint }: SidecarProgram,
  dataDirectory: string,
  env: Environment = process.env,
): Promise<Found> {
  if (chosen) {
    const found = await programAt(chosen);
    return found ?? { missing: `${variable} is ${chosen}, which is not an executable program` };
  }
  const own = join(dataDirectory, 'bin', name);
  const places = [own, ...(env['PATH'] ?? '').split(delimiter).flatMap((at) => (at ? [join(at, name)] : []))];
  if (release) places.push(keptProgram(env, name, release.version));
  for (const place of places) {
    const found = await programAt(place);
    if (found) return found;
  }
  return {
    missing: `there is no ${name}: neither ${variable} nor ${resolve(own)} nor PATH has one; ${hint}`,
  };
}
