// Which clients belong to which user of the messenger: by the field `tgId` of clients.
import { TimeSlice } from '../../kernel/index.js';
import type { ClientChange, ClientRow, ClientsApi } from '../clients/contract.js';

/** Clients that one user sees. */
const MOST = 50;

export class Owners {
  readonly #clients: ClientsApi;
  readonly #byUser = new Map<number, Set<number>>();

  constructor({ clients }: { clients: ClientsApi }) {
    this.#clients = clients;
  }

  async start(): Promise<void> {
    const slice = new TimeSlice();
    const ids: number[] = [];
    // Rows may change while others have their turn: only ids are kept, and each is read again.
    for (const { id, tgId } of this.#clients.all()) if (tgId !== 0) ids.push(id);
    for (const id of ids) {
      if (slice.isOver) await slice.next();
      const row = this.#clients.byId(id);
      if (row) this.#add(row.tgId, id);
    }
  }

  follow(changes: readonly ClientChange[]): void {
    for (const { before, after } of changes) {
      if (before && before.tgId !== after?.tgId) this.#remove(before.tgId, before.id);
      if (after) this.#add(after.tgId, after.id);
    }
  }

  #add(userId: number, id: number): void {
    if (userId === 0) return;
    const ids = this.#byUser.get(userId) ?? new Set();
    this.#byUser.set(userId, ids.add(id));
  }

  #remove(userId: number, id: number): void {
    const ids = this.#byUser.get(userId);
    ids?.delete(id);
    if (ids?.size === 0) this.#byUser.delete(userId);
  }

  has(userId: number): boolean {
    return this.of(userId).length > 0;
  }

  /** Their clients, by id. Each row is asked: what is remembered here is only where to look. */
  of(userId: number): ClientRow[] {
    const rows: ClientRow[] = [];
    for (const id of this.#byUser.get(userId) ?? []) {
      const row = this.#clients.byId(id);
      if (row?.tgId === userId && rows.length < MOST) rows.push(row);
    }
    return rows;
  }
}
