// Followers of the connections that the core accepts.
import { type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import { type AcceptedPeer, type CoreAccessApi, type UserRef, userOf } from './contract.js';
import type { Accepted } from './driver.js';
import type { Supervisor } from './supervisor.js';

type Hear = (accepted: readonly AcceptedPeer[]) => void;

export class Accesses implements CoreAccessApi {
  readonly #log: Log;
  readonly #supervisor: Pick<Supervisor, 'admits' | 'accepted'>;
  readonly #followers = new Set<Hear>();
  readonly #queue = new SerialQueue();
  #waiting: Promise<void> | undefined;
  #failing = false;

  constructor({ log, supervisor }: { log: Log; supervisor: Pick<Supervisor, 'admits' | 'accepted'> }) {
    this.#log = log;
    this.#supervisor = supervisor;
  }

  admits(user: UserRef): boolean {
    return this.#supervisor.admits(user);
  }

  follow(hear: Hear): () => void {
    this.#followers.add(hear);
    return () => void this.#followers.delete(hear);
  }

  /** A reading in progress may have passed the lines that the caller waits for; the next one has not. */
  catchUp(): Promise<void> {
    this.#waiting ??= this.#queue.run(async () => {
      this.#waiting = undefined;
      await this.#read();
    });
    return this.#waiting;
  }

  async #read(): Promise<void> {
    if (this.#followers.size === 0) return;
    try {
      await this.#supervisor.accepted((batch) => this.#tell(batch));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.#log.warn("the core's access log cannot be read; it is tried again", {
          reason: messageOf(error),
        });
      this.#failing = true;
    }
  }

  #tell(batch: readonly Accepted[]): void {
    const accepted = batch.flatMap(({ name, address, port }): AcceptedPeer[] => {
      const user = userOf(name);
      return user ? [{ ...user, address, port }] : [];
    });
    for (const follow of this.#followers) {
      try {
        follow(accepted);
      } catch (error) {
        this.#log.error('a follower of the access log failed', { error });
      }
    }
  }
}
