// Attributes a stack trace to the third-party plugin whose folder holds the code.
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';

export interface PluginFiles {
  readonly name: string;
  /** changes when the plugin is updated or rebuilt */
  readonly stamp: string;
  /** start of the paths of its files in a stack trace */
  readonly places: readonly string[];
}

/** All plugins whose code this process has imported, or is about to. */
const known = new Map<string, PluginFiles>();

let heard: () => void = () => undefined;
/** Calls the listener whenever a plugin is added, before its code is imported. */
export const onPluginFiles = (listener: () => void): void => {
  heard = listener;
};

/** `folder` is a real path, because stack traces have real paths. */
export function notePluginFiles(name: string, folder: string, stamp: string): void {
  const files = { name, stamp, places: [`${folder}/`, pathToFileURL(`${folder}/`).href] };
  known.set(name, files);
  heard();
}

export const pluginFiles = (): readonly PluginFiles[] => [...known.values()];

/** The plugin whose code is nearest to the top of the stack trace. */
export function pluginIn(
  stack: string,
  all: readonly PluginFiles[] = pluginFiles(),
): PluginFiles | undefined {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  for (const frame of frames) {
    const found = all.find(({ places }) => places.some((place) => frame.includes(place)));
    if (found) return found;
  }
  return undefined;
}

const MOST_CAUSES = 5;

/** The plugin that threw this error, or caused it. */
export function pluginThatThrew(error: unknown): PluginFiles | undefined {
  try {
    for (let at = error, depth = 0; types.isNativeError(at) && depth < MOST_CAUSES; at = at.cause, depth++) {
      const found = pluginIn(at.stack ?? '');
      if (found) return found;
    }
  } catch {
    // A getter threw, so the cause is unknown.
  }
  return undefined;
}
