// Figures that only the leader has, such as who is online: it writes them to the database when they change, and the others
// read them, so that each panel answers the same. They are no changes of memory: nobody waits for them.
import {
  type Contributed,
  type Database,
  type Log,
  messageOf,
  type PluginContext,
} from '../../kernel/index.js';
import { SharedFigures, type SharedFigure } from './contract.js';
import { NOW } from './database-clock.js';

/** Older ones are of a leader that is gone. */
const FRESH_MS = 15_000;
const LONGEST = 8 * 1024 * 1024;
/** What has not changed is written again after this, so that it stays fresh. */
const AGAIN_MS = 6_000;

const WRITE = `INSERT INTO cluster_figures (name, at, body) VALUES (:name, ${NOW}, :body)
  ON DUPLICATE KEY UPDATE at = ${NOW}, body = :body`;
const READ = `SELECT name, body FROM cluster_figures WHERE at > ${NOW} - ${FRESH_MS} AND length(body) <= ${LONGEST}`;

interface Row {
  readonly name: string;
  readonly body: string;
}

export class Figures {
  readonly #db: Database;
  readonly #log: Log;
  readonly #contributions: PluginContext['contributions'];
  /** text and `performance.now()` of what was written last, by name */
  readonly #written = new Map<string, { readonly body: string; readonly at: number }>();

  #isBusy = false;

  constructor({
    db,
    log,
    contributions,
  }: { db: Database; log: Log; contributions: PluginContext['contributions'] }) {
    this.#db = db;
    this.#log = log;
    this.#contributions = contributions;
  }

  get #all(): readonly Contributed<SharedFigure>[] {
    return this.#contributions(SharedFigures);
  }

  /** Writes those of this panel, or takes those of the leader. Never rejects: the next one comes in two seconds. */
  async exchange(leads: boolean): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await (leads ? this.#write() : this.#read());
    } catch (error) {
      this.#log.debug('figures of the leader are not exchanged', { reason: messageOf(error) });
    } finally {
      this.#isBusy = false;
    }
  }

  async #write(): Promise<void> {
    const now = performance.now();
    const due = this.#all.flatMap(({ value, fault }) => {
      try {
        const body = JSON.stringify(value.read());
        const last = this.#written.get(value.name);
        if (body.length > LONGEST || (last?.body === body && now - last.at < AGAIN_MS)) return [];
        return [{ name: value.name, body }];
      } catch (error) {
        fault(`the shared figure ${value.name}`, error);
        return [];
      }
    });
    if (due.length === 0) return;
    await this.#db.write(async (tx) => {
      for (const figure of due) await tx.run(WRITE, figure);
    });
    for (const { name, body } of due) this.#written.set(name, { body, at: now });
  }

  async #read(): Promise<void> {
    const rows = await this.#db.query<Row>(READ);
    const bodies = new Map(rows.map(({ name, body }) => [name, body]));
    for (const { value, fault } of this.#all)
      try {
        const body = bodies.get(value.name);
        value.take(body === undefined ? undefined : JSON.parse(body));
      } catch (error) {
        fault(`the shared figure ${value.name}`, error);
        this.#log.debug('a figure of the leader cannot be read', {
          name: value.name,
          reason: messageOf(error),
        });
      }
  }
}
