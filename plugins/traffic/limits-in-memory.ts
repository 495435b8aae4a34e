// Limits while the database cannot be written: the core loses the users at once, and their rows follow with the first
// poll that can write.
import { type Hooks, type Log, TimeSlice } from '../../kernel/index.js';
import {
  canRenew,
  type ClientsApi,
  type ClientUsage,
  depletionOf,
  type WithheldUsersApi,
} from '../clients/contract.js';
import { inboundDepletion, type InboundsApi, type LocalInboundsApi } from '../inbounds/contract.js';
import { depletionCandidates } from './contract.js';

interface Bytes {
  readonly up: number;
  readonly down: number;
}
const NONE: Bytes = { up: 0, down: 0 };
const BY = 'traffic';

export class LimitsInMemory {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #local: LocalInboundsApi;
  readonly #withheld: WithheldUsersApi;
  /** clients and inbounds that are withheld */
  #count = 0;

  constructor(needs: {
    hooks: Hooks;
    log: Log;
    clients: ClientsApi;
    inbounds: InboundsApi;
    localInbounds: LocalInboundsApi;
    withheld: WithheldUsersApi;
  }) {
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#local = needs.localInbounds;
    this.#withheld = needs.withheld;
  }

  /** `unsaved` are all bytes that the database lacks, not only those of the last poll. */
  async apply(unsaved: readonly ClientUsage[], at: number): Promise<void> {
    const clients = await this.#clientsAtLimit(sumsBy(unsaved, 'clientId'), at);
    const inbounds = this.#inboundsAtLimit(sumsBy(unsaved, 'inboundId'), at);
    await this.#withheld.replace(BY, { clients, inbounds });
    const count = clients.size + inbounds.size;
    if (count > this.#count)
      this.#log.info('limits were reached that cannot be saved yet; the core no longer serves these users', {
        clients: clients.size,
        inbounds: inbounds.size,
      });
    this.#count = count;
  }

  /** Call it when all limits are in the database. */
  async end(): Promise<void> {
    if (this.#count === 0) return;
    this.#count = 0;
    await this.#withheld.replace(BY, { clients: new Set(), inbounds: new Set() });
  }

  async #clientsAtLimit(unsaved: ReadonlyMap<number, Bytes>, at: number): Promise<ReadonlySet<number>> {
    const found: { id: number; cause: 'quota' | 'expiry' }[] = [];
    const slice = new TimeSlice();
    // A copy: clients come and go while this yields.
    for (const row of [...this.#clients.all()]) {
      if (slice.isOver) await slice.next();
      if (!row.enable) continue;
      const { up, down } = unsaved.get(row.id) ?? NONE;
      const { elsewhereUp, elsewhereDown } = row;
      const used = { up: row.up + up, down: row.down + down, elsewhereUp, elsewhereDown };
      const cause = depletionOf({ totalGB: row.totalGB, expiryTime: row.expiryTime, ...used }, at);
      // Its next period begins with the first poll that can write.
      const renews = row.expiryTime > 0 && row.expiryTime <= at && canRenew(row);
      if (cause && !renews) found.push({ id: row.id, cause });
    }
    const cut = found.length === 0 ? found : this.#hooks.refine(depletionCandidates, found, { at });
    return new Set(cut.map(({ id }) => id));
  }

  #inboundsAtLimit(unsaved: ReadonlyMap<number, Bytes>, at: number): ReadonlySet<number> {
    const reached = this.#local.list().filter((inbound) => {
      const { up, down } = unsaved.get(inbound.id) ?? NONE;
      const used = this.#inbounds.usage(inbound.id);
      return inbound.enable && inboundDepletion(inbound, { up: used.up + up, down: used.down + down }, at);
    });
    return new Set(reached.map(({ id }) => id));
  }
}

function sumsBy(usage: readonly ClientUsage[], key: 'clientId' | 'inboundId'): Map<number, Bytes> {
  const sums = new Map<number, Bytes>();
  for (const entry of usage) {
    const { up, down } = sums.get(entry[key]) ?? NONE;
    sums.set(entry[key], { up: up + entry.up, down: down + entry.down });
  }
  return sums;
}
