// Texts of one language, filled with values.
import { IntlMessageFormat } from 'intl-messageformat';
import type { MessageKey } from './message-key.js';

/** A plain text, or a parsed message (see build/messages.mjs). */
export type Texts = Readonly<Record<string, string | readonly object[]>>;

export type Values = Readonly<Record<string, string | number>>;
export type Say = (key: MessageKey, values?: Values) => string;

/** Returns the function that says a text. A key without a text says the key: a test finds it, and the page still works. */
export function sayIn(texts: Texts, locale: string): Say {
  const formats = new Map<string, IntlMessageFormat>();
  return (key, values) => {
    const text = texts[key];
    if (text === undefined) return key;
    if (typeof text === 'string') return text;
    let format = formats.get(key);
    if (!format) {
      format = new IntlMessageFormat(text as never, locale);
      formats.set(key, format);
    }
    return String(format.format(values));
  };
}
