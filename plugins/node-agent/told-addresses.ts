// From where clients of a central connected, here and at the nodes of this panel; and what it tells of other machines.
import { type Clock, TimeSlice } from '../../kernel/index.js';
import type { AddressOutput, ClientAddressesApi, SeenElsewhere } from '../addresses/contract.js';
import type { NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Centrals } from './centrals.js';
import type { Records } from './records.js';
import type { CentralRow } from './tables.js';

/** Addresses of one reply, before those of other clients are left out. */
const MOST_ADDRESSES = 5_000;

/** By the id of the central. Times are ms before the reply, so clocks need not agree. */
export interface ToldAddress {
  readonly id: number;
  readonly ip: string;
  /** guid of the panel that saw it */
  readonly guid: string;
  readonly since: number;
  readonly seen: number;
}

export class AddressesOfHere {
  readonly #clock: Clock;
  readonly #identity: PanelIdentityApi;
  readonly #addresses: ClientAddressesApi | undefined;
  readonly #nodes: NodesApi | undefined;
  readonly #records: Pick<Records, 'idsAt' | 'find'>;
  readonly #centrals: Centrals;
  #output: AddressOutput | undefined;

  constructor(needs: {
    clock: Clock;
    identity: PanelIdentityApi;
    addresses: ClientAddressesApi | undefined;
    nodes: NodesApi | undefined;
    records: Pick<Records, 'idsAt' | 'find'>;
    centrals: Centrals;
  }) {
    this.#clock = needs.clock;
    this.#identity = needs.identity;
    this.#addresses = needs.addresses;
    this.#nodes = needs.nodes;
    this.#records = needs.records;
    this.#centrals = needs.centrals;
  }

  readonly start = (output: AddressOutput): void => void (this.#output = output);

  /** What other panels told this one from above is not told back. */
  async read(central: CentralRow, after: number): Promise<{ seq: number; addresses: ToldAddress[] }> {
    const { seq = 0, seen = [] } = this.#addresses?.changes(after, MOST_ADDRESSES) ?? {};
    if (seen.length === 0) return { seq, addresses: [] };
    const machines = new Set(
      (this.#nodes?.list() ?? []).flatMap(({ id, guid }) => [guid, ...(this.#nodes?.below(id) ?? [])]),
    );
    machines.delete(central.guid);
    const own = seen.filter(({ panel }) => panel === '' || machines.has(panel));
    const ids = await this.#records.idsAt(central.id, 'client', [
      ...new Set(own.map(({ clientId }) => clientId)),
    ]);
    const now = this.#clock.now();
    const addresses = own.flatMap(({ clientId, panel, address: ip, lastSeen, since }): ToldAddress[] => {
      const id = ids.get(clientId);
      const guid = panel || this.#identity.guid;
      return id === undefined ? [] : [{ id, ip, guid, since: ago(now, since), seen: ago(now, lastSeen) }];
    });
    return { seq, addresses };
  }

  /** Takes in what clients of the central do on other machines; others are skipped. Returns how many were taken. */
  async take(guid: string, told: readonly ToldAddress[]): Promise<number> {
    const central = this.#centrals.get(guid);
    const records = await this.#records.find(central.id, 'client', [...new Set(told.map(({ id }) => id))]);
    const now = this.#clock.now();
    const byGuid = new Map<string, SeenElsewhere[]>();
    let taken = 0;
    const slice = new TimeSlice();
    for (const { id, ip: address, guid: of, since, seen } of told) {
      if (slice.isOver) await slice.next();
      const record = records.get(id);
      if (!record || record.isGone || record.localId === 0 || of === this.#identity.guid) continue;
      const list = byGuid.get(of) ?? [];
      list.push({ clientId: record.localId, address, at: now - seen, since: now - since });
      byGuid.set(of, list);
      taken++;
    }
    for (const [of, list] of byGuid) await this.#output?.seen(of, list);
    return taken;
  }
}

/** Never less than it is: what is told on and on does not get younger. */
const ago = (now: number, at: number): number => Math.max(0, Math.ceil(now - at));
