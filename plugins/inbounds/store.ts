// All inbounds in memory, fed from the database at start and after every commit. Few of them, asked for all the time.
import { after, type Database, frozen, type PluginContext, type Tx } from '../../kernel/index.js';
import { takesFlow } from './accounts.js';
import { contained } from './contained.js';
import {
  type InboundChange,
  type InboundsApi,
  type InboundUsage,
  type Protocol,
  Protocols,
} from './contract.js';
import { baseEntry } from './entry/base.js';
import type { EntryTemplate } from './entry/entry.js';
import { noteFunctions } from './entry/functions.js';
import { errors } from './errors.js';
import type { Inbound } from './schema.js';
import type { InboundTables } from './tables.js';

/** Internal to this plugin: memory follows the commit of `addUsage`. */
export const afterInboundUsage = after<readonly InboundUsage[]>('inbounds/afterInboundUsage');

/** Internal to this plugin: these inbounds have used nothing from here on. */
export const afterInboundReset = after<{ readonly ids: readonly number[] }>('inbounds/afterInboundReset');

const NOTHING = { up: 0, down: 0 };

/** Booleans and JSON come back from SQLite as they were stored. */
const inboundOf = (row: Inbound): Inbound => ({
  ...row,
  enable: Boolean(row.enable),
  disableFlow: Boolean(row.disableFlow),
});

export class InboundStore implements InboundsApi {
  readonly #db: Database;
  readonly #rows: InboundTables['inbounds'];
  readonly #contributions: PluginContext['contributions'];
  #inbounds = new Map<number, Inbound>();
  readonly #usage = new Map<number, { up: number; down: number }>();
  #protocols = new Map<string, Protocol>();
  #plugins = new Map<string, string>();

  constructor({
    db,
    tables,
    contributions,
  }: { db: Database; tables: InboundTables; contributions: PluginContext['contributions'] }) {
    this.#db = db;
    this.#rows = tables.inbounds;
    this.#contributions = contributions;
  }

  async load(): Promise<void> {
    this.#protocols = new Map(
      this.#contributions(Protocols).map((entry) => [
        entry.value.name,
        // Our own lie on the way of every fetch.
        entry.plugin === 'inbounds' ? entry.value : contained(entry),
      ]),
    );
    this.#plugins = new Map(this.#contributions(Protocols).map(({ value, plugin }) => [value.name, plugin]));
    const rows = await this.#rows.findAll({ order: ['id'] });
    this.#inbounds = new Map(
      rows.map((row) => row.get({ plain: true }) as Inbound).map((row) => [row.id, frozen(inboundOf(row))]),
    );
    for (const { inbound_id, up, down } of await this.#db.query<{
      inbound_id: number;
      up: number;
      down: number;
    }>('SELECT inbound_id, up, down FROM inbound_usage'))
      this.#usage.set(inbound_id, { up, down });
  }

  get(id: number): Inbound | undefined {
    return this.#inbounds.get(id);
  }
  list(): readonly Inbound[] {
    return [...this.#inbounds.values()];
  }
  protocol(name: string): Protocol | undefined {
    return this.#protocols.get(name);
  }
  pluginOf(protocol: string): string {
    return this.#plugins.get(protocol) ?? '';
  }
  entry(inbound: Inbound): EntryTemplate | undefined {
    const entry = this.protocol(inbound.protocol)?.entry(inbound, noteFunctions(baseEntry(inbound)));
    return entry && frozen(noteFunctions(entry));
  }
  takesFlow(id: number): boolean {
    const inbound = this.get(id);
    const protocol = inbound && this.protocol(inbound.protocol);
    return protocol !== undefined && takesFlow(inbound as Inbound, protocol);
  }
  protocolNames(): string[] {
    return [...this.#protocols.keys()];
  }
  usage(id: number): { readonly up: number; readonly down: number } {
    return this.#usage.get(id) ?? NOTHING;
  }

  require(ids: readonly number[], path: string): void {
    const missing = ids.find((id) => !this.#inbounds.has(id));
    if (missing !== undefined) throw errors.NOT_FOUND(`there is no inbound with id ${missing}`, { path });
  }

  apply(changes: readonly InboundChange[]): void {
    for (const { before, after } of changes) {
      if (after) this.#inbounds.set(after.id, frozen(after));
      else if (before) {
        this.#inbounds.delete(before.id);
        this.#usage.delete(before.id);
      }
    }
  }

  /** One statement for all; memory follows when the caller's transaction has committed. */
  async addUsage(tx: Tx, usage: readonly InboundUsage[]): Promise<void> {
    const known = usage.filter(({ inboundId, up, down }) => this.#inbounds.has(inboundId) && up + down > 0);
    if (known.length === 0) return;
    const { rows, incoming, least, onConflict } = tx.sql;
    const sum = (column: string) =>
      `${column} = ${least}(inbound_usage.${column} + ${incoming(column)}, ${Number.MAX_SAFE_INTEGER})`;
    await tx.run(
      `INSERT INTO inbound_usage (inbound_id, up, down)
       SELECT j.inbound_id, j.up, j.down FROM ${rows({ inbound_id: 'integer', up: 'integer', down: 'integer' })} AS j JOIN inbounds ON inbounds.id = j.inbound_id WHERE true
       ${onConflict('inbound_id', `${sum('up')}, ${sum('down')}`)}`,
      { rows: JSON.stringify(known.map(({ inboundId, up, down }) => [inboundId, up, down])) },
    );
    tx.after(afterInboundUsage, known);
  }

  /** Counters of the inbounds alone; what their clients used stays. */
  async resetUsage(tx: Tx, ids: readonly number[]): Promise<void> {
    await tx.run('DELETE FROM inbound_usage WHERE inbound_id IN (:ids)', { ids });
    tx.after(afterInboundReset, { ids });
  }

  forget(ids: readonly number[]): void {
    for (const id of ids) this.#usage.delete(id);
  }

  count(usage: readonly InboundUsage[]): void {
    for (const { inboundId, up, down } of usage) {
      const now = this.usage(inboundId);
      if (this.#inbounds.has(inboundId))
        this.#usage.set(inboundId, {
          up: Math.min(now.up + up, Number.MAX_SAFE_INTEGER),
          down: Math.min(now.down + down, Number.MAX_SAFE_INTEGER),
        });
    }
  }
}
