// The buckets of all clients, kept and brought up to date with what changes.
import { placesAfter, type RosterJournal, type RosterStep } from '../model/journal.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import {
  type BucketContext,
  BUCKETS,
  bucketsOf,
  bucketsValidUntil,
  isOnline,
  type Summary,
  summaryOf,
} from './buckets.js';

/** Presence sources do not say when their answers change. */
const PRESENCE_MS = 1000;

interface Kept {
  readonly journal: RosterJournal;
  readonly settings: string;
  readonly at: number;
  /** when time alone changes a bucket; of online clients, when the sources of presence are asked again */
  readonly validUntil: number;
  readonly askAgainAt: number;
  readonly bits: Uint8Array;
  readonly summary: Summary;
}

export class KeptBuckets {
  #kept: Kept | undefined;

  /** The buckets of each client, by its place in the list by id, and the counts over all. */
  of(roster: Roster, context: BucketContext): { readonly bits: Uint8Array; readonly summary: Summary } {
    const { now, presence } = context;
    const journal = roster.journals.all;
    const settings = `${context.soonMs} ${context.soonBytes} ${presence.length}`;
    const kept = this.#kept;
    const isValid = kept?.journal === journal && kept.settings === settings && now < kept.validUntil;
    if (isValid && kept.at === journal.at && now < kept.askAgainAt) return kept;
    const rows = roster.ordered('id');
    const steps = isValid ? kept.journal.since(kept.at) : undefined;
    const next = kept && steps ? changed(kept, steps, rows, context) : all(rows, context);
    let askAgainAt = kept?.askAgainAt ?? 0;
    if (!steps || now >= askAgainAt) {
      if (steps) askAgain(next.bits, rows, context);
      askAgainAt = presence.length > 0 ? now + PRESENCE_MS : Infinity;
    }
    const summary = summaryOf(rows, next.bits);
    this.#kept = { journal, settings, at: journal.at, ...next, askAgainAt, summary };
    return this.#kept;
  }
}

function askAgain(bits: Uint8Array, rows: readonly ClientRow[], context: BucketContext): void {
  for (let place = 0; place < rows.length; place++) {
    const others = (bits[place] as number) & ~BUCKETS.online;
    bits[place] = others | (isOnline(rows[place] as ClientRow, context) ? BUCKETS.online : 0);
  }
}

function all(rows: readonly ClientRow[], context: BucketContext): Pick<Kept, 'bits' | 'validUntil'> {
  const bits = new Uint8Array(rows.length);
  let validUntil = Infinity;
  for (let place = 0; place < rows.length; place++) {
    const row = rows[place] as ClientRow;
    bits[place] = bucketsOf(row, context);
    validUntil = Math.min(validUntil, bucketsValidUntil(row, context));
  }
  return { bits, validUntil };
}

function changed(
  { bits: before, validUntil: end }: Kept,
  steps: readonly RosterStep[],
  rows: readonly ClientRow[],
  context: BucketContext,
): Pick<Kept, 'bits' | 'validUntil'> {
  const { changed: places, moves } = placesAfter(steps);
  const bits = moves.reduce(shifted, before.slice());
  let validUntil = end;
  for (const place of places) {
    const row = rows[place] as ClientRow;
    bits[place] = bucketsOf(row, context);
    validUntil = Math.min(validUntil, bucketsValidUntil(row, context));
  }
  return { bits, validUntil };
}

function shifted(bits: Uint8Array, { what, place }: RosterStep): Uint8Array {
  if (what === 'deleted') return bits.copyWithin(place, place + 1).subarray(0, -1);
  const longer = new Uint8Array(bits.length + 1);
  longer.set(bits.subarray(0, place));
  longer.set(bits.subarray(place), place + 1);
  return longer;
}
