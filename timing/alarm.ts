// Calls back whenever a timetable is due, on a clock that a test can move.
import type { Clock } from './clock.js';
import type { Timetable } from './timetable.js';

/** A calendar time is compared with the clock this often: a timer knows nothing of a machine that slept, nor of a clock that was set. */
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

  /** `zone` holds where the timetable names none. What was planned before is not. */
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

  /** The calendar is asked again at every look, so a clock that is set back or forth is followed. */
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
