// Restores a backup: everything is tried on a database of its own first, then the panel restarts with that one.
import type { Database, Log, Principal } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { PanelProgramApi } from '../system/contract.js';
import type { Decryption, LastRestore, PanelDatabaseApi, Rehearsed } from './contract.js';
import { errors } from './errors.js';
import { hostRows } from './host-rows.js';

export interface RestoreRequest {
  /** a SQLite file */
  readonly path: string;
  readonly who: Principal;
  /** of a listed backup, for the audit */
  readonly origin?: { readonly file: string; readonly place: string };
  /** addresses, ports and certificates stay those of this panel */
  readonly keepHostSettings: boolean;
  /** lines of the `secrets.key` that belongs to the backup */
  readonly keys?: readonly string[];
  /** for an encrypted backup */
  readonly decryption?: Decryption | undefined;
}

export class Restore {
  readonly #database: PanelDatabaseApi | undefined;
  readonly #program: PanelProgramApi | undefined;
  readonly #db: Database;
  readonly #log: Log;
  readonly #audit: AuditTrailApi | undefined;
  readonly #self: Principal;
  #busy = false;

  constructor({
    database,
    program,
    db,
    log,
    audit,
    self,
  }: {
    database?: PanelDatabaseApi | undefined;
    program?: PanelProgramApi | undefined;
    db: Database;
    log: Log;
    audit?: AuditTrailApi | undefined;
    self: Principal;
  }) {
    this.#audit = audit;
    this.#self = self;
    this.#database = database;
    this.#program = program;
    this.#db = db;
    this.#log = log;
  }

  async start(): Promise<void> {
    const last = await this.last();
    if (last?.state !== 'under way') return;
    this.#log.info('starting after a restore', { ...last });
    // The entry of the request is in the previous database; the record of this one ends where the backup was made.
    await this.#audit?.act('backup', this.#self, { name: 'restored', facts: { previous: last.previous } });
  }

  last(): Promise<LastRestore | undefined> {
    return this.#database?.lastRestore() ?? Promise.resolve(undefined);
  }

  /** Resolves when the backup was rehearsed and the panel is about to restart with it. */
  async restore({
    path,
    who,
    origin,
    keepHostSettings,
    keys = [],
    decryption,
  }: RestoreRequest): Promise<Rehearsed> {
    const [database, program] = [this.#database, this.#program];
    if (!database || !program) throw errors.NO_PROGRAM();
    if (this.#busy) throw errors.RESTORING();
    this.#busy = true;
    try {
      await this.#audit?.act('backup', who, { name: 'restore', facts: { ...origin, keepHostSettings } });
      const keep = keepHostSettings ? await hostRows(this.#db) : [];
      const { folder, ...result } = await database.rehearse({ path, keep, keys, decryption });
      if (/secrets are sealed with the key/.test(result.problem)) throw errors.NEEDS_KEY();
      if (result.problem !== '') throw errors.NOT_RESTORED(result.problem);
      const done = await program.restoreDatabase(folder);
      if ('refused' in done) {
        await database.discard(folder);
        throw errors.RESTORING(done.reason);
      }
      this.#log.info('restoring a backup', { rows: result.rows, leftOut: result.leftOut });
      return result;
    } finally {
      this.#busy = false;
    }
  }
}

/** `1,234 rows in 56 tables; not restored: table x` */
export function summary({ rows, leftOut }: Rehearsed): string {
  const counts = Object.values(rows);
  const sum = counts.reduce((all, count) => all + count, 0);
  return `${sum} rows in ${counts.length} tables${leftOut.length > 0 ? `; not restored, as this release does not know them: ${leftOut.join(', ')}` : ''}`;
}
