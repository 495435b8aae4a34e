// Sets of characters as classes that every regular expression engine interprets alike: no \p{…}, and no \s, \w and \d, which match more in Python than in JavaScript.

/** First and last code point of each range; sorted, with gaps between. */
export type Ranges = readonly (readonly [first: number, last: number])[];

const LAST = 0x10ffff;
const BEFORE_HALVES = 0xd7ff;
const AFTER_HALVES = 0xe000;
/**
 * By planes, so that no text is long. Halves of surrogate pairs are not characters: valid Unicode text has none
 * (RFC 7493, section 2.1), and some engines reject a class that names them. So a set does not contain them.
 */
const RUNS: Ranges = [
  [0, BEFORE_HALVES],
  [AFTER_HALVES, 0xffff],
  ...Array.from({ length: 16 }, (_, plane) => [(plane + 1) << 16, ((plane + 1) << 16) + 0xffff] as const),
];

/** All characters from the first to the last, as UTF-16. */
function textOf(first: number, last: number): string {
  const size = first > 0xffff ? 2 : 1;
  const units = new Uint16Array((last - first + 1) * size);
  for (let point = first, at = 0; point <= last; point++) {
    if (size === 2) units[at++] = 0xd800 + ((point - 0x10000) >> 10);
    units[at++] = size === 2 ? 0xdc00 + (point & 0x3ff) : point;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

function joined(ranges: Ranges): Ranges {
  const all: [number, number][] = [];
  for (const [first, last] of ranges) {
    const before = all.at(-1);
    if (before && before[1] + 1 === (first === AFTER_HALVES ? BEFORE_HALVES + 1 : first)) before[1] = last;
    else all.push([first, last]);
  }
  return all;
}

/** The characters that a class or an escape matches, tested with the engine itself. Without the flag `u`, code points above U+FFFF are tested as if it were set. */
export function rangesOf(source: string, flags: string): Ranges {
  return joined(
    RUNS.flatMap(([first, last]) => {
      const size = first > 0xffff ? 2 : 1;
      const pattern = new RegExp(`(?:${source})+`, `${size === 2 ? `u${flags.replace('u', '')}` : flags}g`);
      return [...textOf(first, last).matchAll(pattern)].map(
        ({ 0: run, index }) => [first + index / size, first + (index + run.length) / size - 1] as const,
      );
    }),
  );
}

function without(ranges: Ranges): Ranges {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST) gaps.push([next, LAST]);
  return gaps;
}

const PLAIN = /[A-Za-z0-9_ !"%',/:;<=>@`]/;
/** Characters that may be escaped inside and outside of classes, also with the flag `u`. */
const ESCAPABLE = /[\\^$.*+?()[\]{}|]/;
function escaped(point: number): string {
  const character = String.fromCodePoint(point);
  if (point > 0xffff || PLAIN.test(character)) return character;
  if (ESCAPABLE.test(character)) return `\\${character}`;
  return point < 0x100
    ? `\\x${point.toString(16).padStart(2, '0')}`
    : `\\u${point.toString(16).padStart(4, '0')}`;
}
const rangeText = ([first, last]: Ranges[number]): string => {
  if (first === last) return escaped(first);
  return `${escaped(first)}${last > first + 1 ? '-' : ''}${escaped(last)}`;
};

/** A set with more code points than this is written as its complement: programs that generate texts enumerate a class. */
const MOST_TAKEN = 0x88000;

/** A class that matches exactly these characters. */
export function classOf(ranges: Ranges): string {
  const taken = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const isMost = taken > MOST_TAKEN;
  const written = isMost ? without(ranges) : ranges;
  if (written.length === 0) return isMost ? '(?:[a]|[^a])' : '(?!)';
  return `[${isMost ? '^' : ''}${written.map(rangeText).join('')}]`;
}
