// The undo that running code is part of: the recorder, inside the owner's write, names what is undone and checks it again.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Tx } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { KeptStore } from './kept-store.js';
import { type KeptChange, sameValue } from './undoers.js';

interface Running {
  readonly entry: number;
  readonly area: string;
  readonly changes: ReadonlyMap<string, KeptChange>;
  isMarked: boolean;
  isOver: boolean;
}

export class Undoing {
  readonly #store: KeptStore;
  readonly #current = new AsyncLocalStorage<Running>();
  #underWay = 0;

  constructor({ keptStore }: { keptStore: KeptStore }) {
    this.#store = keptStore;
  }

  /** Changes that `work` makes are recorded as those that undo this entry. Rejects if it has made none. */
  async run<T>(
    {
      entry,
      area,
      changes,
    }: { readonly entry: number; readonly area: string; readonly changes: readonly KeptChange[] },
    work: () => Promise<T>,
  ): Promise<T> {
    const running: Running = {
      entry,
      area,
      changes: new Map(changes.map((change) => [String(change.id), change])),
      isMarked: false,
      isOver: false,
    };
    this.#underWay += 1;
    try {
      return await this.#current.run(running, work);
    } finally {
      running.isOver = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#current.disable();
    }
  }

  get #running(): Running | undefined {
    const running = this.#underWay > 0 ? this.#current.getStore() : undefined;
    return running?.isOver ? undefined : running;
  }

  /** The entry that the running write undoes; 0 for none. */
  get entry(): number {
    return this.#running?.entry ?? 0;
  }

  /** Throws where the write would set back what somebody has changed since the undo was checked. */
  check(area: string, kept: readonly KeptChange[] | string): void {
    const running = this.#running;
    if (running?.area !== area || typeof kept === 'string') return;
    for (const { id, kind, before } of kept) {
      const wanted = running.changes.get(String(id));
      if (kind !== 'updated' || wanted?.kind !== 'updated') continue;
      for (const [field, recorded] of Object.entries(wanted.after))
        if (field in before && !sameValue(before[field], recorded)) throw errors.CHANGED_SINCE();
    }
  }

  /** Marks what the running write undoes, with the commit. Throws UNDONE if another undo was first. */
  async mark(tx: Tx, area: string, by: number): Promise<void> {
    const running = this.#running;
    if (running?.area !== area || running.isMarked) return;
    if (!(await this.#store.markUndone(tx, running.entry, by))) throw errors.UNDONE();
    running.isMarked = true;
  }
}
