// Calls back whenever a timetable is due, on a clock that a test can replace.
import type { Clock } from './clock.js';
import type { Timetable } from './timetable.js';

/** How often a calendar time is compared with the clock: a timer does not notice that the machine slept or that the clock was set. */
const LOOK_MS = 60_000;

export class Alarm {
  readonly #clock: Clock;
  readonly #times: Timetable;
  readonly #due: () => void;
  readonly #random: () => number;
  readonly #timers = new Set<() => void>();
  /** Unix ms of the next time, before any jitter; 0 while none is planned */
  nextAt = 0;

  constructor(clock: Clock, times: Timetable, due: () => void, random: () => number = Math.random) {
    this.#clock = clock;
    this.#times = times;
    this.#due = due;
    this.#random = random;
  }

  /** Starts the alarm again. `zone` applies where the timetable names none. */
  set(zone: string | undefined): void {
    this.cancel();
    const { everyMs } = this.#times;
    if (everyMs === undefined) this.#follow(zone);
    else this.#repeat(everyMs);
  }

  cancel(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.nextAt = 0;
  }

  #repeat(ms: number): void {
    this.nextAt = this.#clock.now() + ms;
    const cancel = this.#clock.every(ms, () => {
      this.nextAt = this.#clock.now() + ms;
      this.#ring();
    });
    this.#timers.add(cancel);
  }

  /** Computes the next time again at every look, so it follows a clock that is changed. */
  #follow(zone: string | undefined): void {
    const now = this.#clock.now();
    this.nextAt = this.#times.next(now, zone);
    this.#once(Math.min(this.nextAt - now, LOOK_MS), () => {
      if (this.#clock.now() >= this.nextAt) this.#ring();
      this.#follow(zone);
    });
  }

  #ring(): void {
    const { jitterMs } = this.#times;
    if (jitterMs === 0) this.#due();
    else this.#once(this.#random() * jitterMs, this.#due);
  }

  #once(ms: number, run: () => void): void {
    const cancel = this.#clock.every(Math.max(1, Math.ceil(ms)), () => {
      cancel();
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }
}
