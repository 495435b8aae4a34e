// Quotas: each edit of a reseller is checked and counted in the transaction that makes it, from what the database has then.
import type { Clock, Tx } from '../../kernel/index.js';
import type { SettledEditsApi, Settlement } from '../clients/contract.js';
import { type Account, chargeOf, grantedByOthers, overused } from './charge.js';
import { errors } from './errors.js';
import type { ResellerMemory } from './reseller-state.js';
import {
  addedTo,
  requireBytes,
  requireExpiry,
  requireInbounds,
  requireLimit,
  requirePrefix,
  requireRoom,
} from './rules.js';
import type { Owned, Reseller, ResellerTables } from './tables.js';

/** What a reseller asks for, as far as it is not in the limits that are written. */
export interface Wish {
  /** a new name */
  readonly email?: string | undefined;
  /** inbounds that the client comes into or leaves */
  readonly inboundIds?: readonly number[];
  readonly enables?: boolean;
  readonly resets?: boolean;
}
interface Limits extends Account {
  readonly expiryTime: number;
}

export class Ledger {
  readonly #tables: ResellerTables;
  readonly #clock: Clock;
  readonly #memory: ResellerMemory;
  readonly #edits: SettledEditsApi;

  constructor(needs: {
    tables: ResellerTables;
    clock: Clock;
    memory: ResellerMemory;
    edits: SettledEditsApi;
  }) {
    this.#tables = needs.tables;
    this.#clock = needs.clock;
    this.#memory = needs.memory;
    this.#edits = needs.edits;
  }

  /** For a new client. */
  adding(resellerId: number, wish: Wish): Settlement {
    return {
      before: async (tx) => requireWish(await this.#reseller(tx, resellerId), wish),
      after: async (tx, id) => {
        const reseller = await this.#reseller(tx, resellerId);
        requireRoom(reseller, await this.#count(tx, resellerId));
        const after = await this.#limits(tx, id);
        requireLimit(reseller, after.limit);
        requireExpiry(reseller, after.expiryTime, this.#clock.now());
        const { bytes } = chargeOf(undefined, after, { granted: 0, resets: false });
        // Usage that was kept for its name was not his.
        const granted = grantedByOthers(after, 0, true);
        const row = { clientId: id, resellerId, granted, held: false, goneAt: 0 };
        await this.#tables.owned.create(row, { transaction: tx.t });
        await this.#charge(tx, reseller, bytes);
        tx.apply(this.#memory.projection, { owners: [[id, resellerId]] });
      },
    };
  }

  /** For a client that the reseller has: it is looked at again inside the write, as somebody may have moved it. */
  changing(resellerId: number, clientId: number, wish: Wish): Settlement {
    let owned: Owned;
    let before: Limits;
    return {
      before: async (tx) => {
        const reseller = await this.#reseller(tx, resellerId);
        requireWish(reseller, wish);
        owned = await this.#owned(tx, resellerId, clientId);
        if (wish.enables && owned.held) throw errors.HELD(undefined, { path: 'enable' });
        if (wish.resets && !reseller.mayReset) throw errors.NO_RESET();
        before = await this.#limits(tx, clientId);
      },
      after: async (tx) => {
        const reseller = await this.#reseller(tx, resellerId);
        const { resets = false } = wish;
        const after = await this.#limits(tx, clientId);
        if (resets || after.limit !== before.limit) requireLimit(reseller, after.limit);
        if (after.expiryTime !== before.expiryTime)
          requireExpiry(reseller, after.expiryTime, this.#clock.now());
        const { bytes, granted } = chargeOf(before, after, { granted: owned.granted, resets });
        if (granted !== owned.granted)
          await this.#tables.owned.update({ granted }, { where: { clientId }, transaction: tx.t });
        await this.#charge(tx, reseller, bytes);
      },
    };
  }

  /** Nothing that was given comes back; the place of the client does. What it used beyond its limit counts, whatever the quota: with a new client for each poll it would cost nothing. */
  deleting(resellerId: number, clientId: number): Settlement {
    let bytes = 0;
    let granted = 0;
    return {
      before: async (tx) => {
        await this.#reseller(tx, resellerId);
        ({ granted } = await this.#owned(tx, resellerId, clientId));
        bytes = overused(await this.#limits(tx, clientId), granted);
      },
      after: async (tx) => {
        const reseller = await this.#reseller(tx, resellerId);
        await this.#give(tx, reseller, addedTo(reseller, bytes));
        await this.#tables.owned.update(
          // An undo may bring it back with what it used.
          { goneAt: this.#clock.now(), granted: granted + bytes },
          { where: { clientId }, transaction: tx.t },
        );
        tx.apply(this.#memory.projection, { owners: [[clientId, 0]] });
      },
    };
  }

  async #charge(tx: Tx, reseller: Reseller, bytes: number): Promise<void> {
    requireBytes(reseller, bytes);
    await this.#give(tx, reseller, addedTo(reseller, bytes));
  }

  async #give(tx: Tx, reseller: Reseller, givenBytes: number): Promise<void> {
    if (givenBytes === reseller.givenBytes) return;
    await this.#tables.resellers.update({ givenBytes }, { where: { id: reseller.id }, transaction: tx.t });
    tx.apply(this.#memory.projection, { saved: { ...reseller, givenBytes } });
  }

  async #reseller(tx: Tx, id: number): Promise<Reseller> {
    const row = await this.#tables.resellers.findByPk(id, { transaction: tx.t });
    if (!row) throw errors.NOT_RESELLER();
    return row.get();
  }

  async #owned(tx: Tx, resellerId: number, clientId: number): Promise<Owned> {
    const row = (await this.#tables.owned.findByPk(clientId, { transaction: tx.t }))?.get();
    if (row?.resellerId !== resellerId || row.goneAt !== 0)
      throw errors.NO_CLIENT(`you have no client with the id ${clientId}`, { path: 'id' });
    return row;
  }

  #count(tx: Tx, resellerId: number): Promise<number> {
    return this.#tables.owned.count({ where: { resellerId, goneAt: 0 }, transaction: tx.t });
  }

  async #limits(tx: Tx, id: number): Promise<Limits> {
    const stored = (await this.#edits.limitsOf(tx, [id])).get(id);
    if (!stored) throw errors.NO_CLIENT(`you have no client with the id ${id}`, { path: 'id' });
    const { totalGB, expiryTime, up, down, elsewhereUp, elsewhereDown } = stored;
    return { limit: totalGB, used: up + down + elsewhereUp + elsewhereDown, expiryTime };
  }
}

function requireWish(reseller: Reseller, { email, inboundIds = [] }: Wish): void {
  if (email !== undefined) requirePrefix(reseller, email);
  requireInbounds(reseller, inboundIds);
}
