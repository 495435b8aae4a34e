// What the state of a plugin means for the list.
import type { SystemPluginsListReply } from '../../../../sdk/index.js';

export type ListedPlugin = SystemPluginsListReply[number];

/** No plugin is being switched. */
export const isSettled = (plugins: readonly ListedPlugin[]): boolean =>
  plugins.every(({ state }) => state !== 'switching');

export function levelOf({ state, reason }: Pick<ListedPlugin, 'state' | 'reason'>): 'good' | 'warn' | 'bad' {
  if (state === 'failed' || state === 'faulty') return 'bad';
  return state === 'running' && reason === '' ? 'good' : 'warn';
}

const RANKS = { bad: 0, warn: 1, good: 2 };

/** Those with trouble first, then by name; only those with the text in their name or purpose. */
export function shownPlugins(plugins: readonly ListedPlugin[], search: string): readonly ListedPlugin[] {
  const text = search.trim().toLowerCase();
  return plugins
    .filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(text))
    .sort((a, b) => RANKS[levelOf(a)] - RANKS[levelOf(b)] || (a.name < b.name ? -1 : 1));
}
