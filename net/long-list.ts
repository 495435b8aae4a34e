// Lists in a reply that are too long to hold as JSON: they are written portion by portion while the reply is sent.
import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { patient, TimeSlice } from '../schema/time-slice.js';
import type { Pieces } from './send-stream.js';

/** Items that become one piece of text. */
const ITEMS_PER_PIECE = 64;
/** No other text of a reply can be this one: nobody knows it before the process ends. */
const MARK = `list ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}(\\d+)"`);

/** The lists of the value that is being written; JSON.stringify knows no context. */
let found: LongList<unknown>[] | undefined;

/** Anywhere in the value of a `payload` or `bare` reply, in place of an array, which JSON shows it as. */
export class LongList<T> {
  readonly portions: () => AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

  /** `portions` is called when the reply is sent, for each reply once. */
  constructor(portions: LongList<T>['portions']) {
    this.portions = portions;
  }

  /** Shows rows, each when its turn comes. Pass a copy of an array that changes meanwhile. */
  static of<R, T>(rows: readonly R[], show: (row: R) => T): LongList<T> {
    return new LongList(function* () {
      for (let from = 0; from < rows.length; from += ITEMS_PER_PIECE)
        yield rows.slice(from, from + ITEMS_PER_PIECE).map(show);
    });
  }

  /** Outside of replies, such as in a stored one, the whole list. Portions that are awaited have none. */
  toJSON(): string | T[] {
    if (found) return MARK + (found.push(this as LongList<unknown>) - 1);
    const portions = this.portions();
    if (!(Symbol.iterator in portions)) throw new Error('only a reply can write a list that is awaited');
    return [...portions].flat();
  }
}

/** A value of which every array may be a LongList. */
export type Lengthy<T> = T extends readonly (infer I)[]
  ? readonly Lengthy<I>[] | LongList<Lengthy<I>>
  : T extends object
    ? { [K in keyof T]: Lengthy<T[K]> }
    : T;

async function* piecesOf(text: string, lists: readonly LongList<unknown>[]): AsyncGenerator<string> {
  const slice = new TimeSlice();
  // Also the first portion waits for its turn: many such replies may begin together.
  await slice.next(patient);
  for (const [at, part] of text.split(MARKED).entries()) {
    const list = at % 2 === 1 ? lists[Number(part)] : undefined;
    if (!list) {
      yield part;
      continue;
    }
    let before = '[';
    for await (const portion of list.portions())
      for (let from = 0; from < portion.length; from += ITEMS_PER_PIECE) {
        // A fast reader never makes the stream wait, so it has to yield to others by itself.
        if (slice.isOver) await slice.next(patient);
        yield before + JSON.stringify(portion.slice(from, from + ITEMS_PER_PIECE)).slice(1, -1);
        before = ',';
      }
    yield before === '[' ? '[]' : ']';
  }
}

/** Returns the JSON of a value: its text, or a function that begins to write it if it contains long lists. */
export function jsonOf(value: unknown): string | (() => Pieces) {
  const lists: LongList<unknown>[] = [];
  found = lists;
  try {
    const text = JSON.stringify(value);
    return lists.length === 0 ? text : () => piecesOf(text, lists);
  } finally {
    found = undefined;
  }
}

/** The value as its reader gets it, all at once. */
export async function plainOf(value: unknown): Promise<unknown> {
  const text = jsonOf(value);
  return typeof text === 'string' ? JSON.parse(text) : json(text());
}
