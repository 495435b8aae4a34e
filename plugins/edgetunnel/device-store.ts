// Devices beside the one in force, on disk: those of a rotation that is under way, and those that are to be deleted at the
// service. A panel that is killed finds them here.
import { randomUUID } from 'node:crypto';
import { type Clock, type Log, messageOf, type Tx } from '../../kernel/index.js';
import type { SecretsApi } from '../secrets/contract.js';
import { type Account, readAccount, textOf } from './account.js';
import { type DeviceState, type DeviceTables, sealedAccount } from './tables.js';

export interface StoredDevice {
  readonly id: string;
  readonly account: Account;
  readonly failures: number;
}

export class DeviceStore {
  readonly #rows: DeviceTables['devices'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #secrets: SecretsApi;

  constructor({
    tables,
    clock,
    log,
    secrets,
  }: { tables: DeviceTables; clock: Clock; log: Log; secrets: SecretsApi }) {
    this.#rows = tables.devices;
    this.#clock = clock;
    this.#log = log;
    this.#secrets = secrets;
  }

  /** The oldest first. */
  async list(state: DeviceState, limit = 100): Promise<StoredDevice[]> {
    const rows = await this.#rows.findAll({
      where: { state },
      order: [
        ['failures', 'ASC'],
        ['since', 'ASC'],
      ],
      limit,
    });
    return rows.flatMap((row) => {
      const { id, account, failures } = row.get();
      try {
        return [{ id, failures, account: readAccount(this.#secrets.open(sealedAccount, id, account)) }];
      } catch (error) {
        this.#log.warn('a device of the tunnel service cannot be read', { id, reason: messageOf(error) });
        return [];
      }
    });
  }

  /** Stores a device and returns its id here. */
  async add({ t: transaction }: Tx, account: Account, state: DeviceState): Promise<string> {
    const id = randomUUID();
    const sealed = this.#secrets.seal(sealedAccount, id, textOf(account));
    await this.#rows.create(
      { id, state, account: sealed, failures: 0, since: this.#clock.now() },
      { transaction },
    );
    return id;
  }

  async replace({ t: transaction }: Tx, id: string, account: Account): Promise<void> {
    const sealed = this.#secrets.seal(sealedAccount, id, textOf(account));
    await this.#rows.update({ account: sealed }, { where: { id }, transaction });
  }
  async retire({ t: transaction }: Tx, id: string): Promise<void> {
    await this.#rows.update({ state: 'retired' }, { where: { id }, transaction });
  }
  async failed({ t: transaction }: Tx, { id, failures }: StoredDevice): Promise<void> {
    await this.#rows.update({ failures: failures + 1 }, { where: { id }, transaction });
  }
  async remove({ t: transaction }: Tx, id: string): Promise<void> {
    await this.#rows.destroy({ where: { id }, transaction });
  }
}
