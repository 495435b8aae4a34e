// Inbounds as other parts read them, and the one way to write changes of them.
import { type Database, frozen, type Principal, type Projection, type Tx } from '../../kernel/index.js';
import { clientlessReason, takesFlow } from './accounts.js';
import {
  afterInboundSave,
  duringInboundSave,
  type InboundChange,
  type InboundsApi,
  type InboundUsage,
  type Protocol,
} from './contract.js';
import { baseEntry } from './entry/base.js';
import type { EntryTemplate } from './entry/entry.js';
import { noteFunctions } from './entry/functions.js';
import { errors } from './errors.js';
import type { Inbound } from './fields.js';
import type { KnownProtocols } from './contributed/known-protocols.js';
import { applyChange, type InboundMemory, loadMemory, type MemoryChange, safe, type Used } from './memory.js';
import type { InboundPlace } from './places/inbound-places.js';
import { isSamePlace, type Places } from './places/places.js';
import type { InboundTables } from './tables.js';

const NOTHING: Used = { up: 0, down: 0 };

export class InboundStore implements InboundsApi {
  readonly #usage: InboundTables['usage'];
  readonly #protocols: KnownProtocols;
  readonly #places: Places;
  /** for tests, which compare it with the database */
  readonly memory: Projection<InboundMemory, MemoryChange>;

  constructor({
    db,
    tables,
    protocols,
    places,
  }: { db: Database; tables: InboundTables; protocols: KnownProtocols; places: Places }) {
    this.#places = places;
    this.#usage = tables.usage;
    this.#protocols = protocols;
    this.memory = db.projection({ load: () => loadMemory(tables), apply: applyChange });
  }

  get(id: number): Inbound | undefined {
    return this.memory.state.inbounds.get(id);
  }
  /** Throws NOT_FOUND. */
  find(id: number): Inbound {
    const inbound = this.get(id);
    if (!inbound) throw errors.NOT_FOUND(`there is no inbound with id ${id}`, { path: 'id' });
    return inbound;
  }
  list(): readonly Inbound[] {
    return [...this.memory.state.inbounds.values()];
  }
  /** Inbounds that may be in each other's way, by `placeKey`. */
  at(key: string | number | undefined): readonly Inbound[] {
    const ids = key === undefined ? undefined : this.memory.state.places.get(key);
    return [...(ids ?? [])].flatMap((id) => this.get(id) ?? []);
  }
  idOfTag(tag: string): number | undefined {
    return this.memory.state.tags.get(tag);
  }
  protocol(name: string): Protocol | undefined {
    return this.#protocols.get(name);
  }
  protocols(): readonly Protocol[] {
    return this.#protocols.names().flatMap((name) => this.protocol(name) ?? []);
  }
  pluginOf(protocol: string): string {
    return this.#protocols.pluginOf(protocol);
  }
  entry(inbound: Inbound): EntryTemplate | undefined {
    const protocol = this.protocol(inbound.protocol);
    if (!protocol || clientlessReason(protocol, inbound) !== undefined) return undefined;
    const entry = protocol.entry(inbound, noteFunctions(baseEntry(inbound, this.placeOf(inbound).address)));
    return entry && frozen(noteFunctions(entry));
  }
  placeOf(inbound: Pick<Inbound, 'nodeId'> & { readonly originGuid?: string }): InboundPlace {
    return this.#places.of(inbound);
  }
  node(nodeId: number): InboundPlace | undefined {
    return this.#places.find(nodeId);
  }
  beside(inbound: Parameters<InboundsApi['beside']>[0]): readonly Inbound[] {
    return this.list().filter((other) => other.id !== inbound.id && isSamePlace(other, inbound));
  }
  takesFlow(id: number): boolean {
    const inbound = this.get(id);
    const protocol = inbound && this.protocol(inbound.protocol);
    return protocol !== undefined && takesFlow(inbound as Inbound, protocol);
  }
  usage(id: number): Used {
    return this.memory.state.usage.get(id) ?? NOTHING;
  }

  require(ids: readonly number[], path: string): void {
    const missing = ids.find((id) => !this.get(id));
    if (missing !== undefined) throw errors.NOT_FOUND(`there is no inbound with id ${missing}`, { path });
  }

  clientless(id: number): string | undefined {
    const inbound = this.get(id);
    return inbound && clientlessReason(this.protocol(inbound.protocol), inbound);
  }
  requireForClients(ids: readonly number[], path: string): void {
    this.require(ids, path);
    for (const id of ids) {
      const reason = this.clientless(id);
      if (reason !== undefined)
        throw errors.NO_CLIENTS(`no clients can be attached to inbound #${id}: ${reason}`, { path });
    }
  }

  /** Call it after the statements that write the changes: plugins take part, and memory follows the commit. */
  async saved(tx: Tx, changes: readonly InboundChange[], who: Principal): Promise<void> {
    await tx.during(duringInboundSave, { changes, who });
    tx.apply(this.memory, { saved: changes });
    tx.after(afterInboundSave, { changes, who });
  }

  /** Called by every poll. One statement for all inbounds: the model cannot add to a stored value. */
  async addUsage(tx: Tx, usage: readonly InboundUsage[]): Promise<void> {
    const used = usage
      .filter(({ up, down }) => up + down > 0)
      .map(({ inboundId, up, down }) => ({ inboundId, up: safe(up), down: safe(down) }));
    if (used.length === 0) return;
    const { rows, incoming, least, onConflict } = tx.sql;
    const sum = (column: string) =>
      `${column} = ${least}(inbound_usage.${column} + ${incoming(column)}, ${Number.MAX_SAFE_INTEGER})`;
    // The join leaves out inbounds that were deleted meanwhile.
    await tx.run(
      `INSERT INTO inbound_usage (inbound_id, up, down)
       SELECT j.inbound_id, j.up, j.down FROM ${rows({ inbound_id: 'integer', up: 'integer', down: 'integer' })} AS j JOIN inbounds ON inbounds.id = j.inbound_id WHERE true
       ${onConflict('inbound_id', `${sum('up')}, ${sum('down')}`)}`,
      { rows: JSON.stringify(used.map(({ inboundId, up, down }) => [inboundId, up, down])) },
    );
    tx.apply(this.memory, { used });
  }

  /** Counters of the inbounds alone; what their clients used stays. */
  async resetUsage(tx: Tx, ids: readonly number[]): Promise<void> {
    await this.#usage.destroy({ where: { inboundId: [...ids] }, transaction: tx.t });
    tx.apply(this.memory, { reset: ids });
  }
}
