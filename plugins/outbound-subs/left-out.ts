// What of a list is not used, and why, for the admin who subscribed to it.

/** Entries of a list that are not used. */
export interface LeftOut {
  readonly count: number;
  /** the first of them */
  readonly items: readonly LeftOutItem[];
}
export interface LeftOutItem {
  /** name of the entry in the list, or its place */
  readonly name: string;
  readonly reason: string;
}

const MOST_SHOWN = 50;
const LONGEST_NAME = 128;
const LONGEST_REASON = 300;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/** A name of elsewhere on one line. */
export const shownName = (name: string): string =>
  name.replaceAll(CONTROL, ' ').trim().slice(0, LONGEST_NAME);

export const NOTHING_LEFT_OUT: LeftOut = { count: 0, items: [] };

/** Collects entries that are left out. */
export class LeftOutList {
  #count = 0;
  readonly #items: LeftOutItem[] = [];

  add(name: string, reason: string, count = 1): void {
    this.#count += count;
    if (this.#items.length < MOST_SHOWN)
      this.#items.push({
        name: shownName(name),
        reason: reason.replaceAll(CONTROL, ' ').slice(0, LONGEST_REASON),
      });
  }

  /** A sentence for people; blank when nothing is left out. */
  get sentence(): string {
    if (this.#count === 0) return '';
    const said = this.#count === 1 ? '1 entry is left out' : `${this.#count} entries are left out, the first`;
    return `${said} because: ${this.#items[0]?.reason ?? ''}`;
  }
  get result(): LeftOut {
    return { count: this.#count, items: [...this.#items] };
  }
}
