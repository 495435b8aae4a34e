// Names of files that come from elsewhere: never a path, nothing invisible, no longer than a file system takes.

/** Control characters (line breaks and zero bytes among them), halves of characters, and what separates folders. */
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}/\\]/gu;
const LONGEST = 200;

/** The last part of a path, whichever kind of slash it is written with. Empty for what names no file: `..`, `a/`. */
export function baseName(path: string): string {
  const name = (/[^/\\]*$/.exec(path)?.[0] ?? '').replaceAll(NOT_IN_NAMES, '').trim().slice(-LONGEST);
  return /^\.*$/.test(name) ? '' : name;
}

/** The name as a download may be called: what cannot be part of a file's name is `_`. */
export const downloadName = (name: string): string => name.replaceAll(NOT_IN_NAMES, '_').slice(-LONGEST);
