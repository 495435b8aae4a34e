// What a config file says: the kernel's boot settings at its top, below `plugins` which plugins are on or off and their boot settings.
import type { Section } from './load.js';

export interface PluginEntry {
  readonly on: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** as the file calls it, where that is not its name */
  readonly key?: string;
}
export interface ConfigFile {
  readonly path: string;
  /** what is wrong with it, one sentence each */
  readonly problems: readonly string[];
  readonly panel: Readonly<Record<string, unknown>>;
  readonly plugins: ReadonlyMap<string, PluginEntry>;
}
export const DEFAULT_DATA_DIRECTORY = './data';
export const noFile: ConfigFile = { path: '', problems: [], panel: {}, plugins: new Map() };

/** The kernel's own settings stand at the top. */
export const panelSection = ({ path, panel }: ConfigFile): Section => ({ values: panel, at: (key) => `${key} in ${path}` });
export const pluginSection = ({ path, plugins }: ConfigFile, name: string): Section => ({ values: plugins.get(name)?.config ?? {}, at: (key) => `plugins.${plugins.get(name)?.key ?? name}.config.${key} in ${path}` });
