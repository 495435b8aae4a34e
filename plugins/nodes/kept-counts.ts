// Counts of clients by node, kept until one of them changes: a list of many nodes would look at all clients each time.
import type { Clock } from '../../kernel/index.js';
import type { ClientChange } from '../clients/contract.js';

/** Whatever changed a client without saying so is seen by then. */
const MOST_AGE_MS = 30_000;
/** So few are counted sooner than they are kept. */
const FEW = 50;

export interface Counts {
  readonly clientCount: number;
  readonly activeCount: number;
  readonly depletedCount: number;
  readonly disabledCount: number;
}
interface Kept {
  readonly at: number;
  readonly inbounds: string;
  readonly counts: Counts;
}

export class KeptCounts {
  readonly #clock: Clock;
  /** by the inbounds of the node */
  readonly #kept = new Map<string, Kept>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  of(inboundIds: readonly number[], count: () => Counts): Counts {
    const key = inboundIds.join();
    const known = this.#kept.get(key);
    const now = this.#clock.now();
    if (known && now >= known.at && now - known.at < MOST_AGE_MS) return known.counts;
    const counts = count();
    if (counts.clientCount > FEW) this.#kept.set(key, { at: now, inbounds: `,${key},`, counts });
    else this.#kept.delete(key);
    return counts;
  }

  /** Those of the inbounds that these clients are on, or were, are counted again. */
  changed(changes: readonly ClientChange[]): void {
    if (this.#kept.size === 0) return;
    const ids = new Set(
      changes.flatMap(({ before, after }) => [...(before?.inboundIds ?? []), ...(after?.inboundIds ?? [])]),
    );
    for (const [key, { inbounds }] of this.#kept)
      for (const id of ids)
        if (inbounds.includes(`,${id},`)) {
          this.#kept.delete(key);
          break;
        }
  }

  clear(): void {
    this.#kept.clear();
  }
}
