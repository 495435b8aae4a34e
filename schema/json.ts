// Limits JSON from callers before it is parsed: JSON.parse blocks the event loop until it is done.
import { randomInt } from 'node:crypto';
import { DEEPEST, TOO_DEEP } from './depth.js';

/** Most separators (`,` `:` `[` `{` outside of strings) in one body. */
export const MOST_SEPARATORS = 200_000;
/** Most different keys in one body. A key counts again after other keys: V8 makes a hidden class for each such place, and 66,000 of them take twelve times as long as the same number of values in objects of one shape. */
export const MOST_KEYS = 5000;
/** Size of the table of seen keys. Two keys with the same slot count as one. */
const PLACES = 1 << 16;
/** FNV-1a. The start is random, so that nobody can choose colliding keys. */
const PRIME = 0x01000193;
const START = randomInt(2 ** 32);

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 58, 91, 92, 93, 123, 125,
] as const;

/** Scans JSON piece by piece, as it arrives. Leaves its syntax to JSON.parse. */
export class JsonScan {
  readonly #most: number;
  readonly #mostKeys: number;
  #separators = 0;
  #depth = 0;
  /** hash of the current or last text */
  #text = 0;
  /** hash of the keys so far, of the open object at each depth */
  readonly #path = new Int32Array(DEEPEST + 1);
  #seen: Uint8Array | undefined;
  #keys = 0;
  #inString = false;
  #escaped = false;

  constructor(most = MOST_SEPARATORS, mostKeys = MOST_KEYS) {
    this.#most = most;
    this.#mostKeys = mostKeys;
  }

  /** Why the body is refused, as a sentence without its subject, as soon as it is known. Takes UTF-8. */
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
        if (this.#countKey() > this.#mostKeys)
          return `holds more than ${this.#mostKeys} different keys; send less of it at once`;
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

  /** Counts the text before a colon as the next key of the open object; returns the number of different keys. */
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
