// HTML with everything escaped that is not HTML already.

/** A piece of HTML; only `html` and `raw` make one, so that no text gets into a page unescaped. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}
export type Part = Html | string | number | undefined | false | readonly Part[];

const NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => NAMES[character] ?? '');

function written(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(written).join('');
  return escaped(String(part));
}

/** Values in attributes need quotes around them. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = '';
  for (const [i, piece] of pieces.entries()) text += piece + written(parts[i]);
  return new Html(text);
}
/** Text of this plugin that is HTML, such as its style. */
export const raw = (text: string): Html => new Html(text);
