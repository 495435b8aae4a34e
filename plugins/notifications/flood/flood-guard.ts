// Lets the first few of an event pass, and sums up the rest of a short time in one summary, however many there are.
import type { Clock } from '../../../kernel/index.js';
import type { Occurrence, Severity } from '../contract.js';

/** Occurrences that pass one by one before the others are summed up. */
const PASSING = 3;
const WINDOW_MS = 5_000;
/** While a flood lasts, each window is twice as long as the one before, up to this. */
const LONGEST_WINDOW_MS: Readonly<Record<Severity, number>> = {
  info: 300_000,
  warning: 300_000,
  critical: 60_000,
};
/** Occurrences whose data is in the summary. */
const SAMPLES: Readonly<Record<Severity, number>> = { info: 20, warning: 20, critical: 100 };

/** Many occurrences of one event and severity. */
export interface Summary {
  readonly count: number;
  /** Unix ms of the first and the last one */
  readonly from: number;
  readonly to: number;
  readonly latest: Occurrence;
  readonly samples: readonly Readonly<Record<string, unknown>>[];
}
interface Window<E> {
  readonly event: E;
  readonly severity: Severity;
  since: number;
  length: number;
  passed: number;
  held:
    | { count: number; from: number; to: number; latest: Occurrence; samples: Occurrence['data'][] }
    | undefined;
}

export class FloodGuard<E extends { readonly name: string }> {
  readonly #windows = new Map<string, Window<E>>();
  readonly #clock: Clock;
  readonly #pass: (event: E, severity: Severity, occurrence: Occurrence) => void;
  readonly #summarise: (event: E, severity: Severity, summary: Summary) => void;

  constructor(
    clock: Clock,
    pass: (event: E, severity: Severity, occurrence: Occurrence) => void,
    summarise: (event: E, severity: Severity, summary: Summary) => void,
  ) {
    this.#clock = clock;
    this.#pass = pass;
    this.#summarise = summarise;
  }

  take(event: E, severity: Severity, occurrence: Occurrence): void {
    const key = `${event.name} ${severity}`;
    const now = this.#clock.now();
    let window = this.#windows.get(key);
    if (!window) {
      window = { event, severity, since: now, length: WINDOW_MS, passed: 0, held: undefined };
      this.#windows.set(key, window);
    }
    if (window.passed < PASSING) {
      window.passed++;
      this.#pass(event, severity, occurrence);
      return;
    }
    const held = (window.held ??= { count: 0, from: now, to: now, latest: occurrence, samples: [] });
    held.count++;
    held.to = now;
    held.latest = occurrence;
    if (held.samples.length < SAMPLES[severity]) held.samples.push(occurrence.data);
  }

  /** Ends windows whose time is over; call it every second. `all`: the panel stops. */
  tick(all = false): void {
    const now = this.#clock.now();
    for (const [key, window] of this.#windows) {
      // Also when the clock was set back.
      if (!all && now >= window.since && now < window.since + window.length) continue;
      const { event, severity, held } = window;
      if (!held) {
        this.#windows.delete(key);
        continue;
      }
      window.held = undefined;
      window.since = now;
      window.length = Math.min(window.length * 2, LONGEST_WINDOW_MS[severity]);
      if (held.count === 1) this.#pass(event, severity, held.latest);
      else this.#summarise(event, severity, held);
    }
  }
}
