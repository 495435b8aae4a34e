// Whose code it is: the plugin from outside that a stack trace leads to, by the folder of its files.
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';

export interface PluginFiles {
  readonly name: string;
  /** changes when the plugin is updated or built again */
  readonly stamp: string;
  /** what begins the places of its files in a stack trace */
  readonly places: readonly string[];
}

/** Of all whose code this process has read, or is about to. */
const known = new Map<string, PluginFiles>();

let heard: () => void = () => undefined;
/** Calls this whenever there is more of it, before the code is read. */
export const onPluginFiles = (listener: () => void): void => {
  heard = listener;
};

/** `folder` is a real path: that is what stack traces name. */
export function notePluginFiles(name: string, folder: string, stamp: string): void {
  const files = { name, stamp, places: [`${folder}/`, pathToFileURL(`${folder}/`).href] };
  known.set(name, files);
  heard();
}

export const pluginFiles = (): readonly PluginFiles[] => [...known.values()];

/** The plugin whose code is nearest to where the stack trace begins. */
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

/** The plugin that threw this, or what it was thrown for. */
export function pluginThatThrew(error: unknown): PluginFiles | undefined {
  try {
    for (let at = error, depth = 0; types.isNativeError(at) && depth < MOST_CAUSES; at = at.cause, depth++) {
      const found = pluginIn(at.stack ?? '');
      if (found) return found;
    }
  } catch {
    // A getter that throws: nothing is known of it then.
  }
  return undefined;
}
