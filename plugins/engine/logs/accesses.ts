// Followers of the connections that the core accepts.
import { type Log, messageOf, SerialQueue } from '../../../kernel/index.js';
import { type AcceptedPeer, type CoreAccessApi, type UserRef, userOf } from '../contract.js';
import type { LoggedConnection } from '../driver.js';
import type { Supervisor } from '../life/supervisor.js';

type Listener = (connections: readonly AcceptedPeer[]) => void;

export class Accesses implements CoreAccessApi {
  readonly #log: Log;
  readonly #supervisor: Pick<Supervisor, 'admits' | 'reader'>;
  readonly #followers = new Set<Listener>();
  readonly #queue = new SerialQueue();
  #waiting: Promise<void> | undefined;
  #failing = false;

  constructor({ log, supervisor }: { log: Log; supervisor: Pick<Supervisor, 'admits' | 'reader'> }) {
    this.#log = log;
    this.#supervisor = supervisor;
  }

  admits(user: UserRef): boolean {
    return this.#supervisor.admits(user);
  }

  follow(listener: Listener): () => void {
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  /** A read in progress may have passed the newest lines, so the caller gets the next one. */
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
      await this.#supervisor.reader?.readConnections((batch) => this.#report(batch));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.#log.warn("the core's access log cannot be read; it is tried again", {
          reason: messageOf(error),
        });
      this.#failing = true;
    }
  }

  #report(batch: readonly LoggedConnection[]): void {
    const connections: AcceptedPeer[] = [];
    for (const { name, address, port, at } of batch) {
      const user = userOf(name);
      if (!user) continue;
      const { clientId, inboundId } = user;
      // Two literals: a spread takes 500 bytes for each line of the log.
      connections.push(
        at === undefined
          ? { clientId, inboundId, address, port }
          : { clientId, inboundId, address, port, at },
      );
    }
    for (const listener of this.#followers) {
      try {
        listener(connections);
      } catch (error) {
        this.#log.error('a follower of the access log failed', { error });
      }
    }
  }
}
