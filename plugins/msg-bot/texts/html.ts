// Texts for the Bot API's HTML, whose marks are few: everything that comes from elsewhere is escaped.

/** The Bot API rejects a message with more, after its marks are read. */
export const MOST_CHARACTERS = 4_096;
/** Below that, because marks and escapes count somewhere too. */
const MOST_IN_PART = 3_500;
/** Longer texts from elsewhere are cut in a sentence. */
const MOST_OF_ARGUMENT = 1_000;

const MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Control and direction characters: a name must not turn the text around it. Line ends stay. */
const HIDDEN = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const visible = (text: string): string =>
  text.replaceAll(HIDDEN, (char) => (char === '\n' ? '\n' : char === '\t' ? ' ' : ''));

/** Lone surrogates, which no UTF-8 has, are replaced. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Cs}/gu, '\ufffd');

/** Cuts at most here, and never through a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 2)) ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

/** Escapes text of any length. */
export const escapeAll = (text: string): string =>
  wellFormed(visible(text)).replaceAll(/[&<>"]/g, (char) => MARKS[char] ?? char);
/** Escapes a value for a sentence, and cuts a long one. */
export const escapeHtml = (text: string): string => escapeAll(cut(text, MOST_OF_ARGUMENT));
/** For texts without marks, such as buttons. */
export const plain = (text: string): string => cut(wellFormed(visible(text)), MOST_OF_ARGUMENT);

/** Parts of a text from elsewhere, escaped, none longer than a message; between lines or words where possible. */
export function escapedParts(text: string, most = MOST_IN_PART): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ''; ) {
    let end = Math.min(rest.length, most);
    while (escapeAll(rest.slice(0, end)).length > most) end = Math.floor(end * 0.75);
    if (end < rest.length) {
      const space = Math.max(rest.lastIndexOf('\n', end), rest.lastIndexOf(' ', end));
      if (space > end / 2) end = space + 1;
      else if (/[\ud800-\udbff]/.test(rest.charAt(end - 1))) end--;
    }
    const part = escapeAll(rest.slice(0, end)).trim();
    if (part !== '') parts.push(part);
    rest = rest.slice(end);
  }
  return parts;
}

/** Joins lines to messages. A line is never cut: its marks are complete, and it is short enough. */
export function messagesOf(lines: readonly string[]): string[] {
  const messages: string[] = [];
  let message = '';
  for (const line of lines) {
    if (message !== '' && message.length + line.length + 1 > MOST_IN_PART) {
      messages.push(message);
      message = '';
    }
    message += message === '' ? line : `\n${line}`;
  }
  return message === '' ? messages : [...messages, message];
}
