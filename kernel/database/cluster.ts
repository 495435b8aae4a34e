// Several panels on one database, from the kernel's view: one plugin makes their writes take turns, tells each of the
// changes of the others, and says which of them runs what only one may run.
import type { Projection } from '../../tables/projection.js';
import { token } from '../container/token.js';
import type { After, Event } from '../hooks/kinds.js';
import type { Tx } from './tx.js';

/** What memory must learn of one write. */
export interface Committed {
  /** number of the write */
  readonly commit: number;
  readonly changes: readonly (readonly [Projection<object, unknown>, unknown])[];
  readonly afters: readonly (readonly [After<unknown>, unknown])[];
}

/** `told` is what memory must learn, of this write and of those that others have committed before it. */
export interface Written {
  readonly told: readonly Committed[];
  readonly events: readonly (readonly [Event<unknown>, unknown])[];
}

/** Provided by the plugin `cluster` where the panel is one of several; writes of all of them have one row of numbers. */
export interface Cluster {
  /** Whether this process runs the jobs and the programs that run only once. */
  readonly leads: boolean;
  /** Resolves when it may begin to. */
  leading(): Promise<void>;
  /** The first step of each transaction: waits until no other panel writes. Resolves with what others have written after the number `since`, and where that is 0 only with the last number; rejects where the writer has planned without it, from `plannedAt` on. */
  begin(tx: Tx, since: number, owner: string, plannedAt: number): Promise<readonly Committed[]>;
  /** Runs a turn that only reads, again where a write of another panel has broken it. */
  read<T>(turn: () => Promise<T>): Promise<T>;
  /** The last step of each transaction: stores what the memory of others must learn; resolves with its number. */
  record(tx: Tx, written: Omit<Committed, 'commit'>): Promise<number>;
}
export const Cluster = token<Cluster>('cluster', 'Cluster');
