// Reads a list in JSON item by item, without the whole list in memory.
import { kernelErrors } from '../../../kernel/index.js';

const MAX_DEPTH = 100;
const MAX_ITEM_LENGTH = 1024 * 1024;
/** A client has about 50, and one for each of its inbounds. */
const MAX_SEPARATORS = 20_000;

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 58, 91, 92, 93, 123, 125,
] as const;
const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9;

const bad = (reason: string, cause?: unknown) =>
  kernelErrors.INVALID(`data: ${reason}`, { path: 'data', cause });

class ItemReader {
  #state: 'before' | 'first' | 'next' | 'item' | 'after' = 'before';
  #count = 0;
  #open = '';
  #depth = 0;
  #separators = 0;
  #inString = false;
  #escaped = false;

  /** Returns the items that end in this piece. */
  take(text: string): unknown[] {
    const items: unknown[] = [];
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.#state !== 'item') {
        if (isSpace(c) || !this.#begin(c)) continue;
        start = i;
      }
      if (!this.#ends(c)) continue;
      items.push(this.#parse(this.#open + text.slice(start, i)));
      this.#open = '';
      this.#state = c === COMMA ? 'next' : 'after';
    }
    if (this.#state !== 'item') return items;
    this.#open += text.slice(start);
    if (this.#open.length > MAX_ITEM_LENGTH) throw bad(`item ${this.#count} is larger than 1 MiB`);
    return items;
  }

  /** Whether an item begins here. */
  #begin(c: number): boolean {
    if (this.#state === 'before') {
      if (c !== OPEN_LIST) throw bad('it must hold the list that clients/export gives');
      this.#state = 'first';
      return false;
    }
    if (this.#state === 'after') throw bad('unexpected text after the list');
    if (this.#state === 'first' && c === CLOSE_LIST) {
      this.#state = 'after';
      return false;
    }
    this.#state = 'item';
    this.#depth = 0;
    this.#separators = 0;
    return true;
  }

  /** Whether this character follows the item. */
  #ends(c: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (c === BACKSLASH) this.#escaped = true;
      else if (c === QUOTE) this.#inString = false;
      return false;
    }
    if (c === COMMA || c === COLON || c === OPEN || c === OPEN_LIST) this.#separate();
    if (c === QUOTE) this.#inString = true;
    else if (c === OPEN || c === OPEN_LIST) {
      if (++this.#depth > MAX_DEPTH) throw bad(`item ${this.#count} nests deeper than ${MAX_DEPTH} levels`);
    } else if (this.#depth === 0) return c === COMMA || c === CLOSE_LIST;
    else if (c === CLOSE || c === CLOSE_LIST) this.#depth--;
    return false;
  }

  #separate(): void {
    if (++this.#separators > MAX_SEPARATORS)
      throw bad(`item ${this.#count} holds more than ${MAX_SEPARATORS} values and keys`);
  }

  #parse(text: string): unknown {
    try {
      const item: unknown = JSON.parse(text);
      this.#count++;
      return item;
    } catch (cause) {
      throw bad(`item ${this.#count} is not valid JSON`, cause);
    }
  }

  finish(): void {
    if (this.#state !== 'after')
      throw bad(`it is not valid JSON: it is incomplete after ${this.#count} items`);
  }
}

/** Yields the items in their order, in portions. Rejects with KERNEL_INVALID, which names the item, counted from 0. */
export async function* itemsOf(texts: AsyncIterable<string>): AsyncGenerator<readonly unknown[]> {
  const reader = new ItemReader();
  for await (const text of texts) {
    const items = reader.take(text);
    if (items.length > 0) yield items;
  }
  reader.finish();
}
