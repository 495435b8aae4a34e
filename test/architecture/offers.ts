// What a plugin declares for others (hooks, tokens, extension points), and its settings, as its sources say.
import { pluginOf, type Source } from './source.js';

export type Kind =
  | 'token'
  | 'extension point'
  | 'prepare'
  | 'guard'
  | 'during'
  | 'draft'
  | 'filter'
  | 'choose'
  | 'after'
  | 'event';

export interface Offer {
  readonly path: string;
  readonly kind: Kind;
  /** name of the constant */
  readonly name: string;
  /** owner and name as the declaration says */
  readonly id: string;
}

/** `<…>` may nest, and an arrow inside is no end. */
const DECLARATION =
  /\bexport const (\w+) = (token|extensionPoint|prepare|guard|during|draft|filter|choose|after|event)<[\s\S]*?>\(\s*'([^']+)'(?:,\s*'([^']+)')?/g;

export const offersOf = ({ path, code }: Source): Offer[] =>
  [...code.matchAll(DECLARATION)].map(([, name = '', kind = '', first = '', second]) => ({
    path,
    name,
    kind: (kind === 'extensionPoint' ? 'extension point' : kind) as Kind,
    id: second === undefined ? first : `${first}/${second}`,
  }));

export const isHook = ({ kind }: Offer): boolean => kind !== 'token' && kind !== 'extension point';

/** The plugin (or the kernel) that a file belongs to. */
/** Plugins own what is in their folder, also those of the examples. */
export const ownerOf = (path: string): string =>
  pluginOf(path) ?? /^(?:examples\/)?([^/]+)/.exec(path)?.[1] ?? path;

/** Names under which a plugin keeps settings. */
export const settingsOf = ({ code, isTest }: Source): string[] =>
  isTest ? [] : [...code.matchAll(/^\s*(\w+): setting\(/gm)].map(([, name = '']) => name);

/** Hooks of others and its own that a plugin taps, by their constants' names. */
export const tapsOf = ({ code, isTest }: Source): string[] =>
  isTest ? [] : [...code.matchAll(/\btap\(\s*(\w+)/g)].map(([, name = '']) => name);
