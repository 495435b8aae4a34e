// Readings that could not be written: their process may be gone when the database is back. One value of each counter is
// held, and more only where a counter began again at zero.
import type { SourceReading } from './source-reader.js';

type User = SourceReading['users'][number];
interface Held {
  readonly reading: SourceReading;
  /** by client and inbound */
  readonly users: Map<string, User>;
}
const keyOf = ({ clientId, inboundId }: User): string => `${clientId} ${inboundId}`;

export class HeldReadings {
  /** in the order of the polls */
  readonly #held: Held[] = [];

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  add(readings: readonly SourceReading[]): void {
    for (const reading of readings) {
      const last = this.#held.findLast(({ reading: { stream } }) => stream === reading.stream);
      if (last?.reading.epoch === reading.epoch && !beganAgain(last, reading)) {
        for (const user of reading.users) last.users.set(keyOf(user), user);
      } else this.#held.push({ reading, users: new Map(reading.users.map((user) => [keyOf(user), user])) });
    }
  }

  clear(): void {
    this.#held.length = 0;
  }

  /** Returns what is held, and then these. */
  before(readings: readonly SourceReading[]): SourceReading[] {
    // How long ago the reading before them was is not known any more.
    const held = this.#held.map(({ reading, users }) => ({
      ...reading,
      users: [...users.values()],
      most: Infinity,
    }));
    const waited = new Set(held.map(({ stream }) => stream));
    return [...held, ...readings.map((one) => (waited.has(one.stream) ? { ...one, most: Infinity } : one))];
  }
}

function beganAgain({ users }: Held, reading: SourceReading): boolean {
  const now = new Set<string>();
  for (const user of reading.users) {
    const key = keyOf(user);
    const held = users.get(key);
    now.add(key);
    if (held && (user.up < held.up || user.down < held.down)) return true;
  }
  return (
    reading.isComplete === true && [...users].some(([key, { up, down }]) => up + down > 0 && !now.has(key))
  );
}
