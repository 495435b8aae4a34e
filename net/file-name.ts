// File names from other machines: without a path, without invisible characters, no longer than a file system allows.

/**
 * Control characters (line breaks and zero bytes among them), halves of characters, and separators of folders. Also
 * characters that change the text direction: `a\u202efdp.exe` looks like `aexe.pdf` (Unicode TR 36, "Bidirectional Text Spoofing").
 * Joiners stay: Persian names and emoji need them.
 */
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;
const LONGEST = 200;

/** The last part of a path, with either kind of slash. Empty for a path that names no file: `..`, `a/`. */
export function baseName(path: string): string {
  const name = (path.split(/[/\\]/).at(-1) ?? '').replaceAll(NOT_IN_NAMES, '').trim().slice(-LONGEST);
  return /^\.*$/.test(name) ? '' : name;
}

/** The name for a download; characters that file names cannot have become `_`. */
export const downloadName = (name: string): string => name.replaceAll(NOT_IN_NAMES, '_').slice(-LONGEST);
