// What clients used on other machines, as their central reports it. It counts for their quota here, and goes on to count
// while the central is away.
import { type Clock, type Database, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi, UsageSource } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { Centrals } from './centrals.js';
import { elsewhereChanged } from './contract.js';
import { principalOf } from './principal.js';
import type { Records } from './records.js';
import type { CentralRow } from './tables.js';

/** Clients of one transaction. */
const PORTION = 1_000;
/** Skipped ones that are named. */
const MOST_NAMED = 1_000;

export interface Elsewhere {
  /** id of the central */
  readonly id: number;
  readonly up: number;
  readonly down: number;
  /** the period that it belongs to, where the central counts them */
  readonly period?: number | undefined;
}
export interface Taken {
  /** clients that have these numbers now */
  readonly taken: number;
  /** ids that this central has no client for here, or whose period is another one; the first of them */
  readonly skipped: readonly number[];
}

export class ElsewhereUsage implements UsageSource {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #engine: EngineApi;
  readonly #centrals: Centrals;
  readonly #records: Records;

  constructor(needs: {
    db: Database;
    clock: Clock;
    clients: ClientsApi;
    engine: EngineApi;
    centrals: Centrals;
    records: Records;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#engine = needs.engine;
    this.#centrals = needs.centrals;
    this.#records = needs.records;
  }

  /** Replies show what the client used everywhere. */
  usageOf(clientId: number): { up: number; down: number } | undefined {
    const row = this.#clients.byId(clientId);
    if (!row || row.elsewhereUp + row.elsewhereDown === 0) return undefined;
    const sum = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);
    return { up: sum(row.up, row.elsewhereUp), down: sum(row.down, row.elsewhereDown) };
  }

  /** Replaces what this central reported before for these clients. */
  async report(guid: string, users: readonly Elsewhere[], progressed: () => void): Promise<Taken> {
    const central = this.#centrals.get(guid);
    const skipped: number[] = [];
    let taken = 0;
    for (let from = 0; from < users.length; from += PORTION) {
      taken += await this.#portion(central, users.slice(from, from + PORTION), skipped);
      progressed();
    }
    return { taken, skipped: skipped.slice(0, MOST_NAMED) };
  }

  async #portion(central: CentralRow, users: readonly Elsewhere[], skipped: number[]): Promise<number> {
    const records = await this.#records.find(
      central.id,
      'client',
      users.map(({ id }) => id),
    );
    const changed = new Map<number, { id: number; up: number; down: number }>();
    let taken = 0;
    const slice = new TimeSlice();
    for (const { id, up, down, period } of users) {
      if (slice.isOver) await slice.next();
      const record = records.get(id);
      const row =
        record && !record.isGone && record.localId > 0 ? this.#clients.byId(record.localId) : undefined;
      // Of a period that is over here, or that has not begun: the next report has the present one.
      if (!record || !row || (period !== undefined && period !== record.period)) {
        skipped.push(id);
        continue;
      }
      taken++;
      if (row.elsewhereUp !== up || row.elsewhereDown !== down || changed.has(row.id))
        changed.set(row.id, { id: row.id, up, down });
    }
    if (changed.size === 0) return taken;
    const switched = await this.#db.write((tx) => {
      tx.emit(elsewhereChanged, { clientIds: [...changed.keys()] });
      return this.#clients.setElsewhere(
        tx,
        [...changed.values()],
        this.#clock.now(),
        principalOf(central.guid),
      );
    });
    const refs = [...switched].flatMap((clientId) =>
      (this.#clients.byId(clientId)?.inboundIds ?? []).map((inboundId) => ({ inboundId, clientId })),
    );
    if (refs.length > 0) await this.#engine.reconcileUsers(refs);
    return taken;
  }
}
