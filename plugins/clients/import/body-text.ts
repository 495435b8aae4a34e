// The body of an import is `{"data": "<JSON text>"}` and may be too large to hold in memory: the text is
// extracted piece by piece.
import { kernelErrors } from '../../../kernel/index.js';

const QUOTE = 34;
const BACKSLASH = 92;
const U = 117;
/** Characters; a key is held in memory, and this one is compared with `data` only. */
const LONGEST_KEY = 1000;
const isSpace = (c: string): boolean => c === ' ' || c === '\n' || c === '\r' || c === '\t';

/** Decodes bytes; a character may be split between two pieces. */
export async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    if (cause instanceof TypeError) throw kernelErrors.BAD_BODY('the body is not UTF-8', { cause });
    throw cause;
  }
}

/** Finds the end of what can be decoded: the closing quote, or the start of an escape that continues in the next piece. */
function endOfPart(text: string, from: number): { end: number; closed: boolean } {
  for (let i = from; i < text.length; ) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return { end: i, closed: true };
    const length = c !== BACKSLASH ? 1 : text.charCodeAt(i + 1) === U ? 6 : 2;
    if (i + length > text.length) return { end: i, closed: false };
    i += length;
  }
  return { end: text.length, closed: false };
}

function parseText(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch (cause) {
    throw kernelErrors.BAD_BODY('the body is not valid JSON', { cause });
  }
}

type State = 'begin' | 'key' | 'in key' | 'colon' | 'value' | 'data' | 'other' | 'after' | 'end';

/** Characters that are allowed outside of strings and values. */
const NEXT: Partial<Record<State, Readonly<Record<string, State>>>> = {
  begin: { '{': 'key' },
  key: { '"': 'in key', '}': 'end' },
  colon: { ':': 'value' },
  after: { ',': 'key', '}': 'end' },
};

class BodyText {
  #state: State = 'begin';
  #key = '';
  #depth = 0;
  #inString = false;
  #found = false;

  /** Returns the part of `data` in this piece, and the text to put before the next piece. */
  take(text: string): { data: string; rest: string } {
    let data = '';
    for (let i = 0; i < text.length; ) {
      if (this.#state === 'data' || this.#state === 'in key') {
        const { end, closed } = endOfPart(text, i);
        const part = parseText(text.slice(i, end));
        if (this.#state === 'data') data += part;
        else if ((this.#key += part).length > LONGEST_KEY)
          throw kernelErrors.BAD_BODY(`a key of the body has more than ${LONGEST_KEY} characters`);
        if (!closed) return { data, rest: text.slice(end) };
        this.#state = this.#state === 'data' ? 'after' : 'colon';
        i = end + 1;
      } else {
        if (this.#state === 'other' && this.#inString && text[i] === '\\') {
          if (i + 1 === text.length) return { data, rest: '\\' };
          i += 2;
        } else this.#step(text[i++] as string);
      }
    }
    return { data, rest: '' };
  }

  #step(c: string): void {
    if (this.#state === 'other') this.#pass(c);
    else if (isSpace(c)) return;
    else if (this.#state === 'value') this.#begin(c);
    else {
      const state = NEXT[this.#state]?.[c];
      if (state === undefined)
        throw kernelErrors.BAD_BODY(
          `the body is not a JSON object: ${JSON.stringify(c)} was not expected there`,
        );
      if (state === 'in key') this.#key = '';
      this.#state = state;
    }
  }

  #begin(c: string): void {
    if (this.#key === 'data') {
      if (c !== '"')
        throw kernelErrors.INVALID('data must be text: the list that clients/export gives, as JSON', {
          path: 'data',
        });
      if (this.#found) throw kernelErrors.INVALID('the body has data twice', { path: 'data' });
      this.#found = true;
      this.#state = 'data';
      return;
    }
    this.#state = 'other';
    this.#depth = 0;
    this.#inString = false;
    this.#pass(c);
  }

  /** Unknown keys of a body are ignored. */
  #pass(c: string): void {
    if (c === '"') this.#inString = !this.#inString;
    else if (this.#inString) return;
    else if (c === '{' || c === '[') this.#depth++;
    else if (this.#depth > 0 && (c === '}' || c === ']')) this.#depth--;
    else if (this.#depth === 0 && (c === ',' || c === '}')) this.#state = c === ',' ? 'key' : 'end';
  }

  finish(): void {
    if (this.#state !== 'end' && this.#state !== 'begin')
      throw kernelErrors.BAD_BODY('the body is incomplete');
    if (!this.#found)
      throw kernelErrors.INVALID('data is missing: the list that clients/export gives, as JSON text', {
        path: 'data',
      });
  }
}

/** Yields the text of `data`, in pieces. Rejects with KERNEL_BAD_BODY or KERNEL_INVALID. */
export async function* dataText(texts: AsyncIterable<string>): AsyncGenerator<string> {
  const body = new BodyText();
  let rest = '';
  for await (const text of texts) {
    const taken = body.take(rest + text);
    ({ rest } = taken);
    if (taken.data !== '') yield taken.data;
  }
  body.finish();
}
