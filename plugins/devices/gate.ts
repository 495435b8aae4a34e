// Decides on each fetch of a subscription: records its device, and refuses it when the client has reached its limit.
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, Hooks } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import type { DevicePlaces, FetchGate, GateDecision } from '../subscription/contract.js';
import { type DeviceOfClient, deviceRefused } from './contract.js';
import type { DeviceStore } from './device-store.js';
import { descriptionOf, fingerprintOf, hashOf } from './sighting.js';

const decision = (refused: boolean, ...names: readonly string[]): GateDecision => ({
  refused,
  headers: Object.freeze(names.map((name) => [name, 'true'] as const)),
});
// The headers that apps of this convention read; all have the value `true`.
const HAS_PLACE = decision(false, 'X-Hwid-Active');
const FULL_NOW = decision(false, 'X-Hwid-Active', 'X-Hwid-Limit');
const NO_ID = decision(true, 'X-Hwid-Active', 'X-Hwid-Not-Supported');
const NO_PLACE = decision(true, 'X-Hwid-Active', 'X-Hwid-Max-Devices-Reached', 'X-Hwid-Limit');

/** Refused devices of one batch; each costs about 2 KB. */
const MOST_REFUSED = 1000;

/** A limit acts while its client is enabled: a disabled one gets no working link anyway. */
const limitOf = ({ enable, limitHwid }: ClientRow): number => (enable ? limitHwid : 0);

export class DeviceGate implements FetchGate {
  readonly #store: DeviceStore;
  readonly #clock: Clock;
  readonly #hooks: Hooks;
  #refused = new Map<
    string,
    DeviceOfClient & { readonly reason: 'limit' | 'noId'; readonly limit: number }
  >();

  constructor({ store, clock, hooks }: { store: DeviceStore; clock: Clock; hooks: Hooks }) {
    this.#store = store;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  check(client: ClientRow, headers: IncomingHttpHeaders): GateDecision | undefined {
    const limit = limitOf(client);
    if (limit <= 0 && headers['x-hwid'] === undefined) return undefined;
    const hash = hashOf(headers);
    if (hash === undefined) return limit > 0 ? this.#refuse(client, hash, headers) : undefined;
    const now = this.#clock.now();
    const describe = () => descriptionOf(headers);
    // While a client with a limit is disabled, a new device must not get a place beyond the limit.
    if (client.limitHwid > 0 && limit === 0) this.#store.touch(client, hash, now, describe);
    else if (!this.#store.admit(client, hash, limit, now, describe))
      return this.#refuse(client, hash, headers);
    if (limit <= 0) return undefined;
    return this.#store.count(client.id) >= limit ? FULL_NOW : HAS_PLACE;
  }

  #refuse(client: ClientRow, hash: string | undefined, headers: IncomingHttpHeaders): GateDecision {
    const reason = hash === undefined ? 'noId' : 'limit';
    const key = `${client.id} ${hash ?? ''}`;
    if (!this.#refused.has(key) && this.#refused.size < MOST_REFUSED)
      this.#refused.set(key, {
        clientId: client.id,
        email: client.email,
        fingerprint: fingerprintOf(hash),
        at: this.#clock.now(),
        reason,
        limit: client.limitHwid,
        ...descriptionOf(headers),
      });
    return reason === 'noId' ? NO_ID : NO_PLACE;
  }

  /** Reports the devices that were refused since the last call. */
  report(): void {
    if (this.#refused.size === 0) return;
    const devices = [...this.#refused.values()];
    this.#refused = new Map();
    this.#hooks.emit(deviceRefused, { devices });
  }

  /** What an app reads before it fetches. */
  places(client: ClientRow): DevicePlaces {
    const limit = limitOf(client);
    if (limit <= 0) return { active: false, full: false, limit: 0, registered: 0, remaining: 0 };
    const registered = this.#store.count(client.id);
    return {
      active: true,
      full: registered >= limit,
      limit,
      registered,
      remaining: Math.max(limit - registered, 0),
    };
  }
}
