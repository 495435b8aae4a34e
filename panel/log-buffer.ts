// The last lines of the log, in memory: those of this process, over all starts of the panel in it.
import { randomBytes } from 'node:crypto';
import type { LoggedLine, LogLevel } from '../plugins/panel-logs/contract.js';
import { levels } from './log.js';

const MOST_LINES = 10_240;
/** UTF-16 code units of all texts */
const MOST_CHARACTERS = 4 * 1024 * 1024;

export class LogBuffer {
  /** of the numbers of lines: another process begins again at 1 */
  readonly epoch = randomBytes(6).toString('hex');
  readonly #lines: LoggedLine[] = [];
  /** Lines before it are gone; they are taken out many at once. */
  #first = 0;
  #characters = 0;
  /** lines that the list has no more */
  #gone = 0;
  readonly #most: { readonly lines: number; readonly characters: number };

  /** @param most less in tests */
  constructor(most = { lines: MOST_LINES, characters: MOST_CHARACTERS }) {
    this.#most = most;
  }

  add(line: LoggedLine): void {
    this.#lines.push(line);
    this.#characters += line.text.length;
    while (
      this.#lines.length - this.#first > 1 &&
      (this.#lines.length - this.#first > this.#most.lines || this.#characters > this.#most.characters)
    ) {
      this.#characters -= (this.#lines[this.#first] as LoggedLine).text.length;
      // Its text must not stay in memory until the list is shortened.
      this.#lines[this.#first++] = line;
    }
    if (this.#first < this.#most.lines) return;
    this.#lines.splice(0, this.#first);
    this.#gone += this.#first;
    this.#first = 0;
  }

  /** Number of the newest line; the first one has 1. */
  get end(): number {
    return this.#gone + this.#lines.length;
  }

  /** Oldest first: the newest lines after this number, at most `most`. */
  since(number: number, most: number): LoggedLine[] {
    return this.#lines.slice(Math.max(number - this.#gone, this.#first, this.#lines.length - most));
  }

  /** Newest first: at most `count` lines of this level or a more severe one. */
  last(count: number, least: LogLevel): LoggedLine[] {
    const floor = levels.indexOf(least);
    const found: LoggedLine[] = [];
    for (let i = this.#lines.length - 1; i >= this.#first && found.length < count; i--) {
      const line = this.#lines[i] as LoggedLine;
      if (levels.indexOf(line.level) >= floor) found.push(line);
    }
    return found;
  }
}
