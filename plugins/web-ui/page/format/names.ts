// Names that other people chose: what is invisible in them becomes visible, and what is long is clipped.

const LONGEST = 120;
/** Control characters have pictures of their own (U+2400 on). */
const PICTURES = 0x2400;
/** A flag of a part of a country has characters that are invisible elsewhere. */
const FLAG = '\u{1f3f4}';
/** Characters that change the direction, or that nobody sees: also letters without a shape, and tags. Emoji need their selectors. */
const HIDDEN =
  /\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f}|[\p{Cc}\p{Zl}\p{Zp}\u2800\ufff9-\ufffb]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

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
