// Values from outside, such as names and errors of others, made fit to stand in a sentence.

const LONGEST_VALUE = 200;
/** Marks that change the direction of what follows, and characters of no width that only hide; joiners stay, Persian needs them. */
const HIDDEN = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu;

/** Returns at most so many characters, on one line, without half of a character at the end. */
export function cleanText(value: string, longest = LONGEST_VALUE): string {
  // Cut first: what is thrown away must not cost anything. Hidden marks may make up most of it.
  const cut = value.slice(0, longest * 4);
  const plain = wellFormed(cut).replaceAll(HIDDEN, '').replaceAll(BREAKS, ' ').trim();
  return plain.length > longest || cut.length < value.length ? `${shortened(plain, longest - 1)}…` : plain;
}

/** A finished sentence: shortened, and on one line. */
export function fitted(sentence: string, longest: number): string {
  const line = wellFormed(sentence.slice(0, longest * 2))
    .replaceAll(BREAKS, ' ')
    .trim();
  return line.length > longest || sentence.length > longest * 2 ? `${shortened(line, longest - 1)}…` : line;
}

/** Replaces halves of characters. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

function shortened(text: string, longest: number): string {
  const end = text.charCodeAt(longest - 1);
  return text.slice(0, end >= 0xd800 && end <= 0xdbff ? longest - 1 : longest);
}
