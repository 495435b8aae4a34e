// Texts in links: escapes, base64 and JSON, each refused with the name of its part.
import { LinkError } from './link-error.js';

/** What would begin a second line, or is half of a character. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;
export const hasControl = (text: string): boolean => text.search(CONTROL) >= 0;
export const oneLine = (text: string): string => text.replaceAll(CONTROL, ' ');
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A text without control characters, or an error. */
function clean(text: string, part: string): string {
  if (hasControl(text)) throw new LinkError(part, `its ${part} contains control characters`);
  return text;
}

export function unescaped(text: string, part: string): string {
  if (!text.includes('%')) return text;
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    throw new LinkError(part, `its ${part} has an invalid escape; write % as %25`);
  }
  return clean(plain, part);
}

/** Names are only shown: one with a single `%` stays as it is. */
export function lenientlyUnescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads both alphabets, with or without padding; undefined for anything else, and for bytes that are not UTF-8. */
export function inBase64(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  try {
    return utf8.decode(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
}

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object of JSON. */
export function jsonIn(text: string, part: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LinkError(part, `its ${part} is not valid JSON`);
  }
  if (!isObject(value)) throw new LinkError(part, `its ${part} must be an object of JSON`);
  return value;
}

export const isTrue = (text: string): boolean => text === '1' || text.toLowerCase() === 'true';

/** Commas between the items. */
export const itemsOf = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

/** A whole number, or undefined where the text is empty. */
export function numberIn(
  text: string,
  part: string,
  [least, most]: readonly [number, number],
): number | undefined {
  if (text === '') return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new LinkError(part, `its ${part} is not a number from ${least} to ${most}`);
}
