// Resets and sets the counters of clients. A client that its quota disabled is enabled when its usage is below the quota again.
import { type Clock, type Principal, SerialQueue, type Tx } from '../../../kernel/index.js';
import { mapInSlices } from '../model/map-in-slices.js';
import type { Applied } from '../../engine/contract.js';
import type { ClientWriter } from '../edits/client-writer.js';
import type { ClientEdit } from '../edits/edit.js';
import { Progress, writeInPortions } from '../edits/in-portions.js';
import { pickClients } from '../edits/pick-clients.js';
import type { ShownUsage } from '../lists/shown-usage.js';
import type { ClientStore } from '../model/client-store.js';
import { decideEnabled } from '../model/depletion.js';
import type { ClientRow } from '../model/row.js';

export class UsageEdits {
  readonly #store: ClientStore;
  readonly #writer: ClientWriter;
  readonly #clock: Clock;
  readonly #shown: Pick<ShownUsage, 'isReported'>;
  readonly #resets = new SerialQueue();
  readonly #progress = new Progress();

  constructor({
    store,
    writer,
    clock,
    shown,
  }: { store: ClientStore; writer: ClientWriter; clock: Clock; shown: Pick<ShownUsage, 'isReported'> }) {
    this.#shown = shown;
    this.#store = store;
    this.#writer = writer;
    this.#clock = clock;
  }

  /** A reset by name enables the clients too, whoever disabled them. */
  async resetTraffic(
    emails: readonly string[],
    who: Principal,
  ): Promise<{ affected: number; applied: Applied }> {
    const { rows } = pickClients(this.#store.roster, emails);
    const applied = await this.#write(this.planResets(rows), who);
    return { affected: rows.length, applied };
  }

  /** Resets by name. */
  planResets(rows: readonly ClientRow[]): ClientEdit[] {
    const now = this.#clock.now();
    return rows.map((row) => this.#planUsage(row, { up: 0, down: 0 }, now, true));
  }

  /** Resets all clients, portion by portion; those that an admin disabled stay disabled. One call after the other: the next finds nothing to do. */
  resetAll(who: Principal, progressed: () => void): Promise<Applied> {
    const now = this.#clock.now();
    const reset = (): Promise<Applied> =>
      writeInPortions(
        this.#store.roster.ordered('id'),
        (row) => this.#planReset(row, now),
        (edits) => this.#write(edits, who),
        this.#progress,
      );
    return this.#progress.during(progressed, () => this.#resets.run(reset));
  }

  /** Resets the clients that are attached to any of these inbounds; those that an admin disabled stay disabled. `also` is written in the same transaction. */
  async resetOf(
    inboundIds: readonly number[],
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<Applied> {
    const now = this.#clock.now();
    const wanted = new Set(inboundIds);
    const planned = await mapInSlices(this.#store.roster.ordered('id').slice(), (row) =>
      row.inboundIds.some((id) => wanted.has(id)) ? this.#planReset(row, now) : undefined,
    );
    return this.#write(
      planned.filter((edit) => edit !== undefined),
      who,
      also,
    );
  }

  /** Undefined for a client that has nothing to reset. */
  #planReset(row: ClientRow, now: number): ClientEdit | undefined {
    return row.up + row.down > 0 || row.depletedCause === 'quota' || this.#shown.isReported(row.id)
      ? this.#planUsage(row, { up: 0, down: 0 }, now)
      : undefined;
  }

  setTraffic(
    row: ClientRow,
    usage: { readonly up: number; readonly down: number },
    who: Principal,
  ): Promise<Applied> {
    return this.#write([this.#planUsage(row, usage, this.#clock.now())], who);
  }

  async #write(
    edits: readonly ClientEdit[],
    who: Principal,
    also?: (tx: Tx) => Promise<void>,
  ): Promise<Applied> {
    return (await this.#writer.write({ edits, also }, who)).applied;
  }

  /** Plans new usage, and whether the client is enabled with them. */
  #planUsage(
    row: ClientRow,
    usage: { readonly up: number; readonly down: number },
    now: number,
    chosen?: true,
  ): ClientEdit {
    // Named one by one: a copy of the whole row takes ten times as long.
    const { totalGB, expiryTime } = row;
    // A reset starts a period, and what was used elsewhere belongs to the one before.
    const isReset = usage.up + usage.down === 0 && row.elsewhereUp + row.elsewhereDown > 0;
    const elsewhere = isReset
      ? { elsewhereUp: 0, elsewhereDown: 0 }
      : { elsewhereUp: row.elsewhereUp, elsewhereDown: row.elsewhereDown };
    const { enable, depletedCause } = decideEnabled(
      {
        enable: chosen ?? row.enable,
        depletedCause: row.depletedCause,
        totalGB,
        expiryTime,
        up: usage.up,
        down: usage.down,
        ...elsewhere,
      },
      now,
    );
    const fields =
      enable === row.enable && depletedCause === row.depletedCause
        ? {}
        : { enable, depletedCause, updatedAt: now };
    if (isReset) Object.assign(fields, elsewhere);
    return { row, usage, fields, chosen };
  }
}
