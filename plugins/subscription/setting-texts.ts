// Texts of settings that several formats have.
import { text } from '../../kernel/index.js';

/** A text of at most `longest` characters. `check` throws a sentence when it is wrong. */
export const checkedText = (check: (text: string) => unknown, longest: number) =>
  text()
    .max(longest)
    .custom((value: string) => {
      check(value);
      return value;
    });

/** The public place of a format, such as that of a proxy; '' for none. `example` shows one to the admin. */
export const publicUrl = (example: string) =>
  checkedText((value) => {
    if (value === '') return;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isPlace =
      url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password;
    if (!isPlace)
      throw new Error(`it must be an http or https URL without query, fragment and user, like ${example}`);
    // URL.canParse drops tabs and line breaks, and the text is sent in headers as it is.
    if (/[\p{Cc}\p{Cs}]/u.test(value)) throw new Error('it must be one line without control characters');
  }, 1024);
