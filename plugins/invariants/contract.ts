// What must always hold: memory is the database, the core has the users of the database, references lead somewhere. Each
// plugin contributes the checks of its own data; `weir check --deep` and tests run all of them.
import { extensionPoint, token } from '../../kernel/index.js';

/** Receives what disagrees. */
export interface Findings {
  /** One sentence, with the ids; the first 20 are shown and the others counted. */
  add(sentence: string): void;
  /** Lets other work go on. Call it in every loop: a panel may have 100,000 clients. */
  pause(): void | Promise<void>;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}

/** One check. It changes nothing. */
export interface Invariant {
  /** what holds, shown to admins: `users of the core` */
  readonly name: string;
  /** the way out where it does not hold: one sentence */
  readonly fix: string;
  /** Resolves with a reason if it could not be checked now. */
  check(findings: Findings): Promise<string | undefined>;
}
/** Checks that run with `weir check --deep`, and in tests. */
export const Invariants = extensionPoint<Invariant>('invariants', 'Invariants', ({ name, fix, check }) =>
  typeof name !== 'string' || typeof fix !== 'string' || typeof check !== 'function'
    ? 'an invariant has a name, a fix and a check'
    : undefined,
);

/** The result of one check. */
export interface Checked {
  readonly plugin: string;
  readonly name: string;
  readonly fix: string;
  /** sentences, at most 20 */
  readonly found: readonly string[];
  /** how many there are in all */
  readonly count: number;
  /** why it could not be checked; empty if it was */
  readonly skipped: string;
}
export interface InvariantsApi {
  /** Runs all checks, one after another; `report` receives each result as it comes. */
  run(signal: AbortSignal, report?: (checked: Checked) => void): Promise<readonly Checked[]>;
}
export const InvariantChecks = token<InvariantsApi>('invariants', 'InvariantChecks');

/** A state that hides its parts: names each part with its value, for comparisons. */
export interface Comparable {
  comparedParts(): Iterable<readonly [part: string, value: unknown]>;
}
/** Marks the projection of a state that its plugin compares by an invariant of its own, because a second one is too large. */
export interface ComparedApart {
  readonly isComparedApart: true;
}
export { canonical } from './canonical.js';
