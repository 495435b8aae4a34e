// The devices of each client in memory: only what the check of a fetch needs.
import type { Database } from '../../kernel/index.js';

interface KnownDevice {
  /** SHA-256 of its id, in hex */
  readonly hash: string;
  /** Unix ms */
  lastSeen: number;
}
const NONE: readonly KnownDevice[] = [];

export class DeviceMemory {
  /** A list, because a client has few devices. */
  readonly #byClient = new Map<number, KnownDevice[]>();
  #size = 0;

  static async load(db: Database): Promise<DeviceMemory> {
    const memory = new DeviceMemory();
    const rows = await db.query<{ clientId: number; hash: string; lastSeen: number }>(
      'SELECT client_id AS "clientId", hash, last_seen AS "lastSeen" FROM client_devices ORDER BY id',
    );
    for (const { clientId, hash, lastSeen } of rows) memory.add(clientId, hash, lastSeen);
    return memory;
  }

  /** For comparisons with another one. */
  *comparedParts(): Iterable<readonly [part: string, value: unknown]> {
    for (const [clientId, devices] of this.#byClient) yield [`client ${clientId}`, new Set(devices)];
    yield ['number of devices', this.#size];
  }

  /** number of devices of all clients */
  get size(): number {
    return this.#size;
  }

  of(clientId: number): readonly KnownDevice[] {
    return this.#byClient.get(clientId) ?? NONE;
  }

  find(clientId: number, hash: string): KnownDevice | undefined {
    return this.#byClient.get(clientId)?.find((device) => device.hash === hash);
  }

  /** Adds a device, or moves its last sighting forward. */
  add(clientId: number, hash: string, at: number): void {
    const known = this.find(clientId, hash);
    if (known) {
      known.lastSeen = Math.max(known.lastSeen, at);
      return;
    }
    const devices = this.#byClient.get(clientId);
    if (devices) devices.push({ hash, lastSeen: at });
    else this.#byClient.set(clientId, [{ hash, lastSeen: at }]);
    this.#size++;
  }

  remove(clientId: number, hash: string): void {
    const devices = this.#byClient.get(clientId);
    const place = devices?.findIndex((device) => device.hash === hash) ?? -1;
    if (!devices || place < 0) return;
    devices.splice(place, 1);
    this.#size--;
    if (devices.length === 0) this.#byClient.delete(clientId);
  }

  removeAll(clientId: number): void {
    this.#size -= this.of(clientId).length;
    this.#byClient.delete(clientId);
  }

  /** The device that was seen the longest time ago. */
  oldest(clientId: number): KnownDevice | undefined {
    let oldest: KnownDevice | undefined;
    for (const device of this.of(clientId)) if (!oldest || device.lastSeen < oldest.lastSeen) oldest = device;
    return oldest;
  }
}
