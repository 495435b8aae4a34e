// What happened to the roster last: what was computed from all rows is brought up to date with it, as to compute it again
// takes tens of milliseconds with 100,000 clients.

export interface RosterStep {
  readonly what: 'added' | 'edited' | 'deleted';
  /** of the client in the list by id, at that moment */
  readonly place: number;
}

/** Steps that are kept; who is further behind computes everything again. */
export const MOST_STEPS = 256;

export class RosterJournal {
  #steps: RosterStep[] = [];
  /** number of the first kept step */
  #first = 0;

  /** Number of the next step; grows with every change. */
  get at(): number {
    return this.#first + this.#steps.length;
  }

  note(what: RosterStep['what'], place: number): void {
    if (this.#steps.length === MOST_STEPS) this.#first += this.#steps.splice(0, MOST_STEPS / 2).length;
    this.#steps.push({ what, place });
  }

  /** Too much changed to tell. */
  clear(): void {
    this.#first = this.at + 1;
    this.#steps = [];
  }

  /** The steps from this number on; undefined when they are no longer known. */
  since(at: number): readonly RosterStep[] | undefined {
    return at < this.#first ? undefined : this.#steps.slice(at - this.#first);
  }
}

export class RosterJournals {
  /** what admins changed */
  readonly edits = new RosterJournal();
  /** with the bytes that polls counted */
  readonly all = new RosterJournal();

  edited(what: RosterStep['what'], place: number): void {
    this.edits.note(what, place);
    this.all.note(what, place);
  }
  clear(): void {
    this.edits.clear();
    this.all.clear();
  }
}

/** What is left of some steps: where the changed clients are now, and how the places of all others moved. */
export function placesAfter(steps: readonly RosterStep[]): {
  readonly changed: readonly number[];
  readonly moves: readonly RosterStep[];
} {
  let changed = new Set<number>();
  const moves = steps.filter(({ what }) => what !== 'edited');
  for (const { what, place } of steps) {
    if (what !== 'edited') {
      const others = [...changed].filter((other) => what === 'added' || other !== place);
      const by = what === 'added' ? 1 : -1;
      changed = new Set(others.map((other) => (other >= place ? other + by : other)));
    }
    if (what !== 'deleted') changed.add(place);
  }
  return { changed: [...changed], moves };
}
