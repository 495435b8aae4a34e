// Entries that other plugins write without a hook.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Database,
  type Log,
  messageOf,
  type Principal,
  storageFailure,
  type Tx,
} from '../../kernel/index.js';
import type { AuditTrailApi, DescribedChange } from './contract.js';
import type { Recorder } from './recorder.js';

const PATIENCE_MS = 2_000;

export class Trail implements AuditTrailApi {
  readonly #db: Database;
  readonly #log: Log;
  readonly #recorder: Recorder;

  constructor({ db, log, recorder }: { db: Database; log: Log; recorder: Recorder }) {
    this.#db = db;
    this.#log = log;
    this.#recorder = recorder;
  }

  record(
    tx: Tx,
    area: string,
    who: Principal,
    changes: readonly DescribedChange[],
    secret?: readonly string[],
  ): Promise<void> {
    return this.#recorder.write(tx, area, who, changes, secret);
  }

  async act(
    area: string,
    who: Principal,
    { name, facts = {} }: { readonly name: string; readonly facts?: object },
  ): Promise<void> {
    // Not undefined: of a record that is new, what says nothing is left out, as `enable: false`.
    const change = { kind: 'done', name, before: {}, after: facts } as const;
    const isOver = new AbortController();
    const written = this.#db
      .write((tx) => this.#recorder.write(tx, area, who, [change]))
      .catch((error: unknown) => {
        const { kind, name: by, ip = '' } = who;
        // That the database fails is in the log already.
        const level = storageFailure(error) ? 'warn' : 'error';
        this.#log[level]('an act is missing in the record of changes', {
          ...{ area, act: name, who: by, whoKind: kind, ip },
          reason: messageOf(error),
        });
      })
      .finally(() => isOver.abort());
    // A database that hangs must not keep an admin from a restart; the entry follows if it comes back.
    const late = sleep(PATIENCE_MS, undefined, { signal: isOver.signal }).catch(() => undefined);
    await Promise.race([written, late]);
  }
}
