// Finds unknown parts of a declaration: JavaScript accepts any key, and a misspelt part would be ignored silently.
import { definePlugin, type Plugin } from '../kernel/plugin/define.js';
import { didYouMean } from '../schema/suggest.js';

const KNOWN = Object.keys(definePlugin({ name: '', version: '', api: 0, about: '' }));
/** Words of other programs, or of earlier releases, for a part. */
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

/** Returns one sentence for each key that definePlugin does not know. */
export const unknownParts = (plugin: Plugin): string[] =>
  Object.keys(plugin)
    .filter((key) => !KNOWN.includes(key) && key !== 'outside')
    .map((key) => {
      const word = OTHER_WORDS[key];
      return `"${key}" is not a part of a plugin${word ? `; did you mean ${word}?` : didYouMean(key, KNOWN, `; there are ${KNOWN.join(', ')}`)}`;
    });
