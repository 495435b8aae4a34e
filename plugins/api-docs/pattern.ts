// Regular expressions for JSON Schema: a source alone. Programs in other languages read it too, so it uses only what ECMA-262 (with the flag `u`), Python's `re` and similar engines interpret alike.
import { classOf, rangesOf } from './code-points.js';

/** Splits a source into escapes and groups, whole classes, and single characters. */
const TOKEN =
  /\\[pP]\{[^}]*\}|\\u\{[0-9a-f]+\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\c[a-z]|\\k<[^>]*>|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<[^=!>]+>|\(\?<?[:=!]|\{[0-9,]*\}|[\s\S]/giu;
/** A class that all engines interpret alike: without shorthand classes, and without characters that elsewhere nest or combine classes. */
const PLAIN_CLASS = /^\[\^?(?:\\[\\\]\-^/.tnrfv[]|[^\\[\u{10000}-\u{10ffff}])*\]$/u;
/** Operators in classes, in engines that have them. */
const CLASS_OPERATION = /--|&&|~~|\|\|/;
const MANY = /^(?:\\[dDwWsS]|\\[pP]\{)/;
const LETTER = /^[a-z]$/i;
/** A word boundary: Python counts the letters of all scripts, JavaScript those of ASCII. */
const EDGE = '(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))';
const INSIDE = '(?:(?<![0-9A-Za-z_])(?![0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_]))';

/** Computing a set takes some milliseconds, and few are different. */
const written = new Map<string, string>();
const MOST_WRITTEN = 1000;
function portableClass(source: string, flags: string): string {
  const key = `${flags} ${source}`;
  const known = written.get(key);
  if (known !== undefined) return known;
  const text = classOf(rangesOf(source, flags));
  if (written.size < MOST_WRITTEN) written.set(key, text);
  return text;
}

/** One character, in ASCII where possible. */
function character(point: number): string {
  return classOf([[point, point]]).slice(1, -1);
}

function portable(token: string, flags: string): string | undefined {
  if (token.startsWith('[')) {
    const isPlain = PLAIN_CLASS.test(token) && !CLASS_OPERATION.test(token) && !flags.includes('i');
    return isPlain ? token : portableClass(token, flags);
  }
  if (token === '.' || MANY.test(token)) return portableClass(token, flags);
  if (token === '\\b') return EDGE;
  if (token === '\\B') return INSIDE;
  if (token.startsWith('\\k')) return undefined;
  if (token.startsWith('(?<') && !/^\(\?<[=!]/.test(token)) return '(';
  const isEscape = /^\\[uxc0]/.test(token);
  if (flags.includes('i') && (LETTER.test(token) || isEscape || token > '\x7f'))
    return portableClass(token, flags);
  if (token === '\\0') return '\\x00';
  if (token.startsWith('\\c')) return character(token.charCodeAt(2) & 31);
  if (token.startsWith('\\u'))
    return character((JSON.parse(`"${asPair(token)}"`) as string).codePointAt(0) as number);
  return token;
}
/** `\u{1f600}` as JSON escapes it. */
const asPair = (token: string): string =>
  token.replace(/^\\u\{(.*)\}$/, (_, digits: string) =>
    [...String.fromCodePoint(Number.parseInt(digits, 16)).split('')]
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Takes `/source/flags`, as joi describes patterns; undefined when JSON Schema cannot express it. */
export function patternOf(described: string): string | undefined {
  const [, source = '', flags = ''] = /^\/([\s\S]*)\/([a-z]*)$/.exec(described) ?? [];
  if (/[^ui]/.test(flags)) return undefined;
  try {
    const tokens = (source.match(TOKEN) ?? []).map((token) => portable(token, flags));
    if (tokens.includes(undefined)) return undefined;
    const pattern = tokens.join('');
    // A slash is escaped only between slashes; elsewhere the flag `u` rejects the escape.
    new RegExp(pattern, 'u');
    return pattern;
  } catch {
    return undefined;
  }
}
