// Devices of clients of a central: what fetched subscriptions here, and what the central tells of other machines.
import type { Clock } from '../../kernel/index.js';
import type { DeviceChange, DevicesApi } from '../devices/contract.js';
import type { Centrals } from './centrals.js';
import type { Records } from './records.js';
import type { CentralRow } from './tables.js';

/** Changes of one reply; each has about 500 bytes, and 2 KB at most. */
const MOST_DEVICES = 500;

/** Before the guid of a central whose word it is. */
const ABOVE = 'central ';

/** By the id of the central; `seen` is ms before the message. */
export interface ToldDevice extends Omit<DeviceChange, 'clientId' | 'at' | 'isGone' | 'source'> {
  readonly id: number;
  readonly seen: number;
}

export class DevicesOfHere {
  readonly #clock: Clock;
  readonly #devices: DevicesApi | undefined;
  readonly #records: Pick<Records, 'idsAt' | 'find'>;
  readonly #centrals: Centrals;

  constructor(needs: {
    clock: Clock;
    devices: DevicesApi | undefined;
    records: Pick<Records, 'idsAt' | 'find'>;
    centrals: Centrals;
  }) {
    this.#clock = needs.clock;
    this.#devices = needs.devices;
    this.#records = needs.records;
    this.#centrals = needs.centrals;
  }

  /** What panels above told is not told back: they may have removed it meanwhile. A device that was removed here is not removed elsewhere: that is for the central to say. */
  async read(central: CentralRow, after: number): Promise<{ seq: number; devices: ToldDevice[] }> {
    const { seq = 0, devices = [] } = this.#devices?.changes(after, MOST_DEVICES) ?? {};
    const ids = await this.#records.idsAt(central.id, 'client', [
      ...new Set(devices.map(({ clientId }) => clientId)),
    ]);
    const now = this.#clock.now();
    const told = devices.flatMap(({ clientId, isGone, at, hash, source, ...description }): ToldDevice[] => {
      const id = ids.get(clientId);
      const { userAgent, deviceOs, osVersion, deviceModel } = description;
      return id === undefined || isGone || source.startsWith(ABOVE)
        ? []
        : [{ id, hash, seen: Math.max(0, now - at), userAgent, deviceOs, osVersion, deviceModel }];
    });
    return { seq, devices: told };
  }

  /** Takes in devices that fetched elsewhere, and those that were removed. Unknown clients are skipped; returns how many were not. */
  async take(guid: string, told: readonly (ToldDevice & { readonly isGone: boolean })[]): Promise<number> {
    const central = this.#centrals.get(guid);
    const records = await this.#records.find(central.id, 'client', [...new Set(told.map(({ id }) => id))]);
    const now = this.#clock.now();
    const changes = told.flatMap(({ id, seen, ...device }) => {
      const record = records.get(id);
      if (!record || record.isGone || record.localId === 0) return [];
      return [{ ...device, clientId: record.localId, at: now - seen }];
    });
    await this.#devices?.take(changes, `${ABOVE}${guid}`);
    return changes.length;
  }
}
