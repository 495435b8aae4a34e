// Regular expressions as JSON Schema takes them: a source alone, read with the flag `u`, without any other.

const CASED = /[a-z]/i;
const bothCases = (letter: string): string =>
  CASED.test(letter) ? `${letter.toLowerCase()}${letter.toUpperCase()}` : letter;

/** Says with letters what the flag `i` says. Escapes stay as they are: none of those with letters knows a case, except classes of letters that we do not write. */
function withoutCase(source: string): string {
  let inClass = false;
  return source.replaceAll(
    /\\[pPuxkc]\{[^}]*\}|\\.|\(\?<[^=!][^>]*>|\(\?<?[:=!]|([a-z])-([a-z])|[\s\S]/gi,
    (part: string, from?: string, to?: string) => {
      if (part === '[') inClass = true;
      else if (part === ']') inClass = false;
      if (from !== undefined && to !== undefined)
        return inClass
          ? `${from.toLowerCase()}-${to.toLowerCase()}${from.toUpperCase()}-${to.toUpperCase()}`
          : `[${bothCases(from)}]-[${bothCases(to)}]`;
      if (part.length > 1 || !CASED.test(part)) return part;
      return inClass ? bothCases(part) : `[${bothCases(part)}]`;
    },
  );
}

/** Takes `/source/flags`, as joi describes patterns; undefined when JSON Schema cannot say it. */
export function patternOf(described: string): string | undefined {
  const [, source = '', flags = ''] = /^\/([\s\S]*)\/([a-z]*)$/.exec(described) ?? [];
  if (/[^ui]/.test(flags)) return undefined;
  const pattern = flags.includes('i') ? withoutCase(source) : source;
  // Slashes are escaped only between slashes; elsewhere the flag `u` takes that too.
  try {
    new RegExp(pattern, 'u');
    return pattern;
  } catch {
    return undefined;
  }
}
