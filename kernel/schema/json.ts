// JSON from outside, bounded before it is parsed: JSON.parse takes its time in one go, and nothing else runs meanwhile.
import { randomInt } from 'node:crypto';
import { DEEPEST, TOO_DEEP } from './depth.js';

/** Separators (`,` `:` `[` `{` outside of strings) in one body. */
export const MOST_SEPARATORS = 200_000;
/** Different keys in one body. A key counts again behind other keys: V8 makes a hidden class for each such place, and 66,000 of them take twelve times as long as as many values in objects that look alike. */
export const MOST_KEYS = 5000;
/** Size of the table of keys that were seen. Two keys with one place count as one. */
const PLACES = 1 << 16;
/** FNV-1a; where it starts is nobody else's to know, or keys could be chosen that share a place. */
const PRIME = 0x01000193;
const START = randomInt(2 ** 32);

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 58, 91, 92, 93, 123, 125,
] as const;

/** Looks at JSON piece by piece, as it arrives. Whether it is JSON at all is left to JSON.parse. */
export class JsonScan {
  readonly #most: number;
  #separators = 0;
  #depth = 0;
  /** hash of the text that is read or was read last */
  #text = 0;
  /** hash of the keys so far, of the object that is open at each depth */
  readonly #path = new Int32Array(DEEPEST + 1);
  #seen: Uint8Array | undefined;
  #keys = 0;
  #inString = false;
  #escaped = false;

  constructor(most = MOST_SEPARATORS) {
    this.#most = most;
  }

  /** Why it cannot be parsed, as a sentence without its subject, as soon as that is known. Takes UTF-8. */
  take(bytes: Uint8Array): string | undefined {
    for (const byte of bytes) {
      if (this.#inString) {
        this.#text = Math.imul(this.#text ^ byte, PRIME);
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) {
        this.#inString = true;
        this.#text = START;
      } else if (byte === COMMA) this.#separators++;
      else if (byte === COLON) {
        this.#separators++;
        if (this.#countKey() > MOST_KEYS)
          return `holds more than ${MOST_KEYS} different keys; send less of it at once`;
      } else if (byte === OPEN || byte === OPEN_LIST) {
        this.#separators++;
        if (++this.#depth > DEEPEST) return TOO_DEEP;
        this.#path[this.#depth] = START;
      } else if (byte === CLOSE || byte === CLOSE_LIST) this.#depth--;
    }
    return this.#separators > this.#most
      ? `holds more than ${this.#most} separators (, : [ {); send less of it at once`
      : undefined;
  }

  /** Takes the text before a colon as the next key of the open object; returns how many different ones there were. */
  #countKey(): number {
    const path = Math.imul((this.#path[this.#depth] ?? START) ^ this.#text, PRIME);
    this.#path[this.#depth] = path;
    const place = (path ^ (path >>> 16)) & (PLACES - 1);
    this.#seen ??= new Uint8Array(PLACES);
    if (this.#seen[place] === 0) this.#keys++;
    this.#seen[place] = 1;
    return this.#keys;
  }
}
