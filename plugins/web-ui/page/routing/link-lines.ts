// Share links that somebody pastes, and the tags of the outbounds that they become.
import { type Entry, freeTag, textOf } from './template.js';

/** They are read one after the other. */
export const MOST_LINKS = 50;

export const linesOf = (typed: string): string[] => [
  ...new Set(
    typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

const LONGEST_TAG = 128;

/** The outbound with the name of its link as its tag, or else its protocol. */
export function named(list: readonly Entry[], name: string, outbound: Entry): Entry {
  const wanted = name.trim().slice(0, LONGEST_TAG) || textOf(outbound['protocol']);
  return { tag: freeTag(list, wanted), ...outbound };
}

export const withoutPath = (message: string): string => message.replace(/^link: /, '');
