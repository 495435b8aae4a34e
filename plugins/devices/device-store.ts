// The devices of clients: admitted in memory at once, written in batches.
import { type Database, type Principal, type Projection, SerialQueue, type Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import { type DeviceDescription, deviceAdded, type DeviceOfClient } from './contract.js';
import { type DeviceChange, DeviceFeed, NO_DESCRIPTION } from './device-feed.js';
import { DeviceMemory } from './device-memory.js';
import { fingerprintOf } from './sighting.js';
import { deleteDevices, saveDevices, type StoredDevice } from './statements.js';
import { type Gone, type Sighting, WaitingRows } from './waiting-rows.js';

/** Most devices of a client without a limit, and of one with a higher limit; then the one that was seen the longest time ago is dropped. */
const MOST_WITHOUT_LIMIT = 20;
export const MOST_WITH_LIMIT = 1000;
/** Devices of all clients, beyond which those of clients without a limit are no longer recorded: about 100 MB. */
const MOST_RECORDED = 500_000;
/** A known device is told to other machines again after so long. */
const TOLD_EVERY_MS = 3_600_000;
/** Rows of one write. */
const ROWS_PER_WRITE = 2000;

/** For a SELECT: what is shown and exported of a device. */
const SHOWN =
  'first_seen AS "firstSeen", last_seen AS "lastSeen", user_agent AS "userAgent", device_os AS "deviceOs", os_version AS "osVersion", device_model AS "deviceModel"';

interface ListedDevice extends DeviceDescription {
  readonly id: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly hash: string;
}
type Change =
  | { readonly seen: readonly Sighting[]; readonly gone: readonly Gone[] }
  | { readonly added: readonly StoredDevice[] }
  | { readonly clientId: number; readonly hashes: readonly string[] }
  | { readonly deletedClients: readonly number[] };

export class DeviceStore {
  readonly #db: Database;
  readonly #clients: ClientsApi;
  readonly #audit: AuditTrailApi | undefined;
  readonly #waiting = new WaitingRows();
  readonly feed = new DeviceFeed();
  /** A removal must not overtake the write of the device that it removes. */
  readonly #writes = new SerialQueue();
  /** Ahead of the database by what waits to be written. */
  readonly projection: Projection<DeviceMemory, Change>;

  constructor({
    db,
    clients,
    audit,
  }: { db: Database; clients: ClientsApi; audit?: AuditTrailApi | undefined }) {
    this.#audit = audit;
    this.#db = db;
    this.#clients = clients;
    this.projection = db.projection<DeviceMemory, Change>({
      load: async () => {
        const memory = await DeviceMemory.load(db);
        this.#waiting.applyTo(memory);
        return memory;
      },
      apply: (memory, change) => this.#apply(memory, change),
    });
  }

  count(clientId: number): number {
    return this.projection.state.of(clientId).length;
  }

  /** Records a sighting of a device and returns true; returns false for a new device of a client that has as many as `limit` (0 for no limit). Synchronous: of parallel fetches no two get the last place. */
  admit(
    client: ClientRow,
    hash: string,
    limit: number,
    at: number,
    describe: () => DeviceDescription,
    source = '',
  ): boolean {
    const memory = this.projection.state;
    const clientId = client.id;
    const known = memory.find(clientId, hash);
    const isTold = known !== undefined && at - known.lastSeen < TOLD_EVERY_MS;
    if (!known) {
      const { length } = memory.of(clientId);
      if (limit > 0 && length >= limit) return false;
      if (limit === 0 && length === 0 && memory.size >= MOST_RECORDED) return true;
      const most = limit > 0 ? MOST_WITH_LIMIT : MOST_WITHOUT_LIMIT;
      const isCrowded = length >= most || (limit === 0 && memory.size >= MOST_RECORDED);
      if (isCrowded) this.#dropOldest(memory, clientId);
    }
    memory.add(clientId, hash, at);
    const sighting = { clientId, hash, at, firstAt: at, isNew: !known, ...describe() };
    this.#waiting.seen(sighting);
    if (!isTold) this.feed.noted(() => ({ ...sighting, isGone: false, source }));
    return true;
  }

  /** Takes in what other machines told: their devices have a place here too while there is one. Unknown clients are skipped. */
  async take(changes: readonly Omit<DeviceChange, 'source'>[], source: string): Promise<void> {
    const gone = new Map<number, string[]>();
    for (const { clientId, hash, isGone, at, ...description } of changes) {
      const client = this.#clients.byId(clientId);
      const known = this.projection.state.find(clientId, hash);
      if (!client || (isGone ? !known : known && known.lastSeen >= at)) continue;
      if (isGone) gone.set(clientId, [...(gone.get(clientId) ?? []), hash]);
      else this.admit(client, hash, client.limitHwid, at, () => description, source);
    }
    for (const [clientId, hashes] of gone)
      await this.#writes.run(async () => {
        await this.#flush();
        await this.#db.write((tx) => this.#delete(tx, clientId, hashes));
        this.#tellGone(clientId, hashes, source);
      });
  }

  async #delete(tx: Tx, clientId: number, hashes: readonly string[]): Promise<void> {
    await deleteDevices(
      tx,
      hashes.map((hash) => ({ clientId, hash })),
    );
    tx.apply(this.projection, { clientId, hashes });
  }

  #tellGone(clientId: number, hashes: readonly string[], source: string): void {
    for (const hash of hashes)
      this.feed.noted(() => ({ clientId, hash, isGone: true, at: 0, source, ...NO_DESCRIPTION }));
  }

  /** Whether the client has this device; a sighting of it is recorded. */
  touch(client: ClientRow, hash: string, at: number, describe: () => DeviceDescription): boolean {
    return (
      this.projection.state.find(client.id, hash) !== undefined && this.admit(client, hash, 0, at, describe)
    );
  }

  #dropOldest(memory: DeviceMemory, clientId: number): void {
    const oldest = memory.oldest(clientId);
    if (!oldest) return;
    memory.remove(clientId, oldest.hash);
    this.#waiting.gone({ clientId, hash: oldest.hash });
  }

  /** Writes what waits. If that fails, it is part of the next call. */
  flush(): Promise<void> {
    return this.#writes.run(() => this.#flush());
  }

  async #flush(): Promise<void> {
    // Not until nothing waits: under load that might never be.
    for (let left = this.#waiting.size; left > 0; left -= ROWS_PER_WRITE) {
      const { seen, gone } = this.#waiting.take(ROWS_PER_WRITE);
      try {
        await this.#db.write(async (tx) => {
          await deleteDevices(tx, gone);
          await saveDevices(
            tx,
            seen.map(({ at, firstAt, ...device }) => ({ ...device, firstSeen: firstAt, lastSeen: at })),
          );
          tx.apply(this.projection, { seen, gone });
          const devices = seen.flatMap((sighting) => this.#added(sighting));
          if (devices.length > 0) tx.emit(deviceAdded, { devices });
        });
        this.#waiting.stored();
      } catch (error) {
        this.#waiting.failed();
        throw error;
      }
    }
  }

  #added({ isNew, clientId, hash, firstAt: _, ...sighting }: Sighting): DeviceOfClient[] {
    const client = isNew ? this.#clients.byId(clientId) : undefined;
    return client ? [{ ...sighting, clientId, email: client.email, fingerprint: fingerprintOf(hash) }] : [];
  }

  /** All devices of a client, the one that was seen last first. */
  async list(clientId: number): Promise<readonly ListedDevice[]> {
    await this.flush();
    return this.#db.query<ListedDevice>(
      `SELECT id, hash, ${SHOWN}
       FROM client_devices WHERE client_id = :clientId ORDER BY last_seen DESC, id DESC`,
      { clientId },
    );
  }

  /** Removes one device of a client, or all; their places are free at once. Returns how many there were. */
  remove(
    { id: clientId, email }: { readonly id: number; readonly email: string },
    who: Principal,
    deviceId?: number,
  ): Promise<number> {
    return this.#writes.run(async () => {
      await this.#flush();
      const removed = await this.#db.write(async (tx) => {
        const rows = await tx.query<{ id: number; hash: string }>(
          'SELECT id, hash FROM client_devices WHERE client_id = :clientId',
          { clientId },
        );
        const hashes = rows
          .filter(({ id }) => deviceId === undefined || id === deviceId)
          .map(({ hash }) => hash);
        if (hashes.length === 0) return hashes;
        await this.#delete(tx, clientId, hashes);
        await this.#audit?.record(tx, 'device', who, [
          {
            kind: 'deleted',
            name: email,
            id: clientId,
            before: { devices: hashes.length },
            after: undefined,
          },
        ]);
        return hashes;
      });
      this.#tellGone(clientId, removed, '');
      return removed.length;
    });
  }

  /** Adds devices that came with new clients, in the transaction that creates these. */
  async add(tx: Tx, devices: readonly StoredDevice[]): Promise<void> {
    await saveDevices(tx, devices);
    tx.apply(this.projection, { added: devices });
  }

  /** Call it in the transaction that deletes clients: the database deletes their rows with them. */
  clientsDeleted(tx: Tx, ids: readonly number[]): void {
    tx.apply(this.projection, { deletedClients: ids });
  }

  /** Within a write it lacks the devices of the last seconds, which are not written yet. */
  async exported(
    clientIds: readonly number[],
    isInWrite: boolean,
  ): Promise<ReadonlyMap<number, readonly unknown[]>> {
    if (!isInWrite) await this.flush();
    if (clientIds.length === 0) return new Map();
    const rows = await this.#db.query<StoredDevice>(
      `SELECT client_id AS "clientId", hash, ${SHOWN}
       FROM client_devices WHERE client_id IN (:clientIds) ORDER BY id`,
      { clientIds },
    );
    const byClient = new Map<number, Omit<StoredDevice, 'clientId'>[]>();
    for (const { clientId, ...device } of rows) {
      const devices = byClient.get(clientId);
      if (devices) devices.push(device);
      else byClient.set(clientId, [device]);
    }
    return byClient;
  }

  #apply(memory: DeviceMemory, change: Change): void {
    if ('deletedClients' in change) {
      for (const id of change.deletedClients) {
        this.#waiting.forget(
          id,
          memory.of(id).map(({ hash }) => hash),
        );
        memory.removeAll(id);
      }
    } else if ('hashes' in change) {
      this.#waiting.forget(change.clientId, change.hashes);
      for (const hash of change.hashes) memory.remove(change.clientId, hash);
    } else if ('added' in change)
      for (const { clientId, hash, lastSeen } of change.added) memory.add(clientId, hash, lastSeen);
    else {
      // Memory has them already, unless it was loaded again meanwhile. A client may be deleted by now.
      for (const device of change.seen)
        if (!this.#waiting.isGone(device) && this.#clients.byId(device.clientId))
          memory.add(device.clientId, device.hash, device.at);
    }
  }
}
