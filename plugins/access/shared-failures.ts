// Failed logins that several panels of one database count together: each tells the others, so that more panels give nobody
// more guesses. A panel alone tells nothing, and a login that succeeds costs no write.
import { setImmediate as soon } from 'node:timers/promises';
import { type Database, type Log, messageOf, type Projection, storageFailure } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';

/** Sources and names are digests. */
export interface ToldFailure {
  /** failures of these sources, with the number that blocks one */
  readonly failed?: readonly (readonly [key: string, most: number])[];
  /** sources whose failures are forgotten, because a login succeeded */
  readonly forgiven?: readonly string[];
  /** a failure with this user name */
  readonly name?: string;
  /** with `name`: the password was right and the code was not */
  readonly wrongCode?: boolean;
}

const AT_ONCE = 500;

export class SharedFailures {
  readonly #db: Database;
  readonly #log: Log;
  readonly #panels: PanelsApi | undefined;
  readonly #told: Projection<object, readonly ToldFailure[]>;
  readonly #own = new WeakSet<readonly ToldFailure[]>();
  readonly #listeners: ((told: ToldFailure) => void)[] = [];
  #waiting: ToldFailure[] = [];
  #writing: Promise<void> | undefined;

  constructor({ db, log, panels }: { db: Database; log: Log; panels?: PanelsApi | undefined }) {
    this.#db = db;
    this.#log = log;
    this.#panels = panels;
    this.#told = db.projection<object, readonly ToldFailure[]>({
      load: async () => ({}),
      apply: (_, all) => {
        if (this.#own.has(all)) return;
        for (const told of all) for (const listen of this.#listeners) listen(told);
      },
    });
  }

  /** Called with what other panels have counted. */
  onTold(listen: (told: ToldFailure) => void): void {
    this.#listeners.push(listen);
  }

  /** Whether one more check may begin of those that `most` limits, where `running` run here and perhaps as many in each other panel. */
  hasRoom(most: number, running: number): boolean {
    return running === 0 ? most > 0 : (running + 1) * (this.#panels?.count ?? 1) <= most;
  }

  /** Resolves when memory has all that other panels have counted until now. Costs a turn of the database, so it is for sources that have failed. */
  async catchUp(): Promise<void> {
    if (!this.#panels?.number) return;
    await this.#db.write(async () => undefined).catch(() => undefined);
  }

  /** Resolves when other panels see it with their next look; undefined where there are none. Never rejects: while the database fails, each counts its own. */
  tell(told: ToldFailure): Promise<void> | undefined {
    if (!this.#panels?.number) return undefined;
    this.#waiting.push(told);
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #write(): Promise<void> {
    // Others of this moment come along.
    await soon();
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, AT_ONCE);
      this.#own.add(some);
      await this.#db
        .write(async (tx) => tx.apply(this.#told, some))
        .catch((error: unknown) => {
          if (!storageFailure(error))
            this.#log.warn('other panels do not learn of failed logins', { reason: messageOf(error) });
        });
    }
  }
}
