// Time that moves when a test says so.
import type { Clock } from '../../timing/clock.js';

export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ every: number; next: number; run: () => void }>();

  constructor(now = Date.UTC(2026, 0, 15, 12)) {
    this.#now = now;
  }
  now(): number {
    return this.#now;
  }
  every(ms: number, run: () => void): () => void {
    const timer = { every: ms, next: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
  /** Moves on and runs what came due, in order. What it started may still be under way. */
  tick(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [due] = [...this.#timers].filter(({ next }) => next <= end).sort((a, b) => a.next - b.next);
      if (!due) break;
      this.#now = Math.max(this.#now, due.next);
      due.next += due.every;
      due.run();
    }
    this.#now = end;
  }
  /** Time that passes on a machine that sleeps: what came due runs once, in order. What it started may still be under way. */
  leap(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(({ next }) => next <= this.#now).sort((a, b) => a.next - b.next);
    for (const timer of due) {
      timer.next = this.#now + timer.every;
      timer.run();
    }
  }
  /** Sets the clock as an admin or NTP does: timers go on as before. */
  jump(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) timer.next += ms;
  }
}
