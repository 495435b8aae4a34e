// Decides when a level is an alarm. Readings are counted, not timed, so a clock that jumps changes nothing.

export interface Bounds {
  /** a reading above it speaks for an alarm */
  readonly limit: number;
  /** a reading at or below it speaks for its end; lower than `limit`, so that a level at the limit does not flap */
  readonly calm: number;
}

export class Hysteresis {
  readonly #needed: number;
  #inARow = 0;
  isActive: boolean;

  /** `needed`: readings in a row that speak for a change. */
  constructor(needed: number, isActive = false) {
    this.#needed = needed;
    this.isActive = isActive;
  }

  /** Takes a reading; returns whether the alarm changed. */
  take(value: number, { limit, calm }: Bounds): boolean {
    const speaks = this.isActive ? value <= calm : value > limit;
    this.#inARow = speaks ? this.#inARow + 1 : 0;
    return this.#inARow >= this.#needed && this.set(!this.isActive);
  }

  /** Returns whether that changed it. */
  set(isActive: boolean): boolean {
    this.#inARow = 0;
    const changed = this.isActive !== isActive;
    this.isActive = isActive;
    return changed;
  }
}
