// Names of files that come from elsewhere: never a path, nothing invisible, no longer than a file system takes.

/**
 * Control characters (line breaks and zero bytes among them), halves of characters, and what separates folders. And what
 * turns the direction of a text: `a\u202efdp.exe` looks like `aexe.pdf` (Unicode TR 36, "Bidirectional Text Spoofing"). Joiners,
 * which Persian names and emoji need, stay.
 */
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;
const LONGEST = 200;

/** The last part of a path, whichever kind of slash it is written with. Empty for what names no file: `..`, `a/`. */
export function baseName(path: string): string {
  const name = (/[^/\\]*$/.exec(path)?.[0] ?? '').replaceAll(NOT_IN_NAMES, '').trim().slice(-LONGEST);
  return /^\.*$/.test(name) ? '' : name;
}

/** The name as a download may be called: what cannot be part of a file's name is `_`. */
export const downloadName = (name: string): string => name.replaceAll(NOT_IN_NAMES, '_').slice(-LONGEST);
