// What plugins add to the web page: pages of their own, shown in a sandboxed frame.
import { extensionPoint } from '../../kernel/index.js';
import type { PageIcon } from './page-icons.js';
import { pageProblem } from './page-problem.js';

export type { PageIcon };

/** A page of a plugin. Its files are public, like those of the web page: what it shows comes through the bridge. */
export interface PluginPage {
  /** unique within the plugin; part of the address */
  readonly key: string;
  /** By language, at most 40 characters each; `en` is needed. */
  readonly title: Readonly<Record<string, string>>;
  readonly icon: PageIcon;
  /** absolute path of a folder of static files */
  readonly folder: string;
  /** the file in the folder that the frame opens; `index.html` by default */
  readonly entry?: string;
  /** The calls that the page may ask for, below /panel/api/: `GET x/acme/entries/*`. `*` is one segment, a final `**` the rest. */
  readonly api?: readonly string[];
}
/** Pages in the menu of the web page. */
export const PluginPages = extensionPoint<PluginPage>('web-ui', 'PluginPages', pageProblem);
