// JSON from outside, bounded before it is parsed: JSON.parse takes its time in one go, and nothing else runs meanwhile.
import { DEEPEST, TOO_DEEP } from './depth.js';

/** Separators (`,` `:` `[` `{` outside of strings) in one body. */
export const MOST_SEPARATORS = 200_000;
/** Keys in one object. Each walk over an object of 100,000 keys takes 20 to 70 ms, for V8 sorts them first. */
export const MOST_KEYS = 1000;

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 58, 91, 92, 93, 123, 125,
] as const;

/** Looks at JSON piece by piece, as it arrives. Whether it is JSON at all is left to JSON.parse. */
export class JsonScan {
  readonly #most: number;
  #separators = 0;
  #depth = 0;
  /** of the object that is open at each depth */
  readonly #keys = new Uint32Array(DEEPEST + 1);
  #inString = false;
  #escaped = false;

  constructor(most = MOST_SEPARATORS) {
    this.#most = most;
  }

  /** Why it cannot be parsed, as a sentence without its subject, as soon as that is known. Takes UTF-8. */
  take(bytes: Uint8Array): string | undefined {
    for (const byte of bytes) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === COMMA) this.#separators++;
      else if (byte === COLON) {
        this.#separators++;
        if (++(this.#keys[this.#depth] as number) > MOST_KEYS)
          return `holds an object of more than ${MOST_KEYS} keys`;
      } else if (byte === OPEN || byte === OPEN_LIST) {
        this.#separators++;
        if (++this.#depth > DEEPEST) return TOO_DEEP;
        this.#keys[this.#depth] = 0;
      } else if (byte === CLOSE || byte === CLOSE_LIST) this.#depth--;
    }
    return this.#separators > this.#most
      ? `holds more than ${this.#most} separators (, : [ {); send less of it at once`
      : undefined;
  }
}
