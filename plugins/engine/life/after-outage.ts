// After the database failed: a commit whose answer was lost may have changed what the core should run, and nobody told it.
import type { Database } from '../../../kernel/index.js';
import type { Supervisor } from './supervisor.js';

interface Needs {
  readonly db: Pick<Database, 'isFailing'>;
  readonly supervisor: Pick<Supervisor, 'parts' | 'reconcileConfig'>;
}

export class AfterOutage {
  readonly #db: Needs['db'];
  readonly #supervisor: Needs['supervisor'];
  #hasFailed = false;

  constructor({ db, supervisor }: Needs) {
    this.#db = db;
    this.#supervisor = supervisor;
  }

  /** Call it more often than a failure can end, which takes six seconds of peace. The users it marks are compared by the retry. */
  async check(): Promise<void> {
    const isOver = this.#hasFailed && !this.#db.isFailing;
    this.#hasFailed = this.#db.isFailing;
    if (!isOver) return;
    await this.#supervisor.reconcileConfig();
    this.#supervisor.parts().inbounds.markUsers();
  }
}
