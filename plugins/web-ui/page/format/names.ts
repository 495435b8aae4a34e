// Names that other people chose: what is invisible in them becomes visible, and what is long is clipped.

const LONGEST = 120;
/** Control characters have pictures of their own (U+2400 on). */
const PICTURES = 0x2400;
/** A flag of a part of a country has characters that are invisible elsewhere. */
const FLAG = '\u{1f3f4}';
/** Characters that change the direction, or that nobody sees: also letters without a shape, and tags. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f}|[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

function visible(character: string): string {
  if (character.startsWith(FLAG)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  if (code === 0x7f) return '\u2421';
  return `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** A name that is safe to show beside other text. */
export const shownName = (name: string): string => shownText(name, LONGEST);

/** The same for a text of another length. */
export function shownText(name: string, longest: number): string {
  // A code point has at most two units: what comes after them need not be taken apart.
  const characters = [...name.slice(0, 2 * longest + 2)];
  const isLong = characters.length > longest;
  const clipped = isLong ? `${characters.slice(0, longest).join('')}…` : name;
  return clipped.replace(HIDDEN, visible);
}

/** The same inside a sentence: its direction does not reach beyond it. */
export const isolated = (name: string): string => `\u2068${shownName(name)}\u2069`;
