// Parts of a declaration that nobody reads: JavaScript takes any key, and a part under a wrong name would be missing in silence.
import { definePlugin, type Plugin } from '../kernel/plugin/define.js';
import { didYouMean } from '../schema/suggest.js';

const KNOWN = Object.keys(definePlugin({ name: '', version: '', api: 0, about: '' }));
/** Words that other programs, or earlier checkouts, have for a part. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  extends: 'contributes',
  extensions: 'contributes',
  listeners: 'taps',
  on: 'taps',
  endpoints: 'routes',
  handlers: 'routes',
  options: 'config',
  description: 'about',
  init: 'start',
  setup: 'start',
  destroy: 'stop',
  teardown: 'stop',
  dependencies: 'uses',
};

/** One sentence for each key that definePlugin has no use for. */
export const unknownParts = (plugin: Plugin): string[] =>
  Object.keys(plugin)
    .filter((key) => !KNOWN.includes(key) && key !== 'outside')
    .map((key) => {
      const word = OTHER_WORDS[key];
      return `"${key}" is no part of a plugin${word ? `; did you mean ${word}?` : didYouMean(key, KNOWN, `; there are ${KNOWN.join(', ')}`)}`;
    });
