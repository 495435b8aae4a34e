// How many messages of a chat are answered. Strangers share a small part, so that a flood of them costs nobody else.

interface Rate {
  /** messages at once */
  readonly most: number;
  /** ms until there is one more */
  readonly every: number;
}
const KNOWN: Rate = { most: 30, every: 1_000 };
const STRANGER: Rate = { most: 3, every: 60_000 };
const ALL_STRANGERS: Rate = { most: 20, every: 3_000 };
const MOST_CHATS = 5_000;

class Bucket {
  #left: number;
  #at: number;
  readonly #rate: Rate;
  #isWarned = false;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.most;
    this.#at = now;
  }
  get isFull(): boolean {
    return this.#left >= this.#rate.most;
  }
  refill(now: number): void {
    const { most, every } = this.#rate;
    // A clock that was set back gives nothing.
    const more = Math.floor(Math.max(0, now - this.#at) / every);
    if (more > 0 || now < this.#at) this.#at = more > 0 ? this.#at + more * every : now;
    this.#left = Math.min(most, this.#left + more);
    if (this.#left > 0) this.#isWarned = false;
  }
  take(now: number): boolean {
    this.refill(now);
    if (this.#left <= 0) return false;
    this.#left--;
    return true;
  }
  /** Whether to say that there were too many: once, until there is room again. */
  warns(): boolean {
    const isFirst = !this.#isWarned;
    this.#isWarned = true;
    return isFirst;
  }
}

export type Verdict = 'answer' | 'warn' | 'ignore';

export class ChatLimiter {
  readonly #chats = new Map<number, Bucket>();
  #strangers: Bucket | undefined;

  judge(userId: number, isStranger: boolean, now: number): Verdict {
    const bucket = this.#bucketOf(userId, isStranger, now);
    if (!bucket.take(now)) return !isStranger && bucket.warns() ? 'warn' : 'ignore';
    if (!isStranger) return 'answer';
    this.#strangers ??= new Bucket(ALL_STRANGERS, now);
    return this.#strangers.take(now) ? 'answer' : 'ignore';
  }

  #bucketOf(userId: number, isStranger: boolean, now: number): Bucket {
    // A stranger who becomes a client starts with a full one.
    const key = isStranger ? -userId : userId;
    const known = this.#chats.get(key);
    if (known) return known;
    const [oldest] = this.#chats.keys();
    if (this.#chats.size >= MOST_CHATS && oldest !== undefined) this.#chats.delete(oldest);
    const bucket = new Bucket(isStranger ? STRANGER : KNOWN, now);
    this.#chats.set(key, bucket);
    return bucket;
  }

  /** Forgets chats that have said nothing for a while. */
  tidy(now: number): void {
    for (const [key, bucket] of this.#chats) {
      bucket.refill(now);
      if (bucket.isFull) this.#chats.delete(key);
    }
  }
}
