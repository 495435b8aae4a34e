// The second factor of each admin: a secret that the authenticator shares. Rows are read for each check, so what another
// panel of the database has just changed counts; memory only knows who has one.
import {
  type Clock,
  type Database,
  type LiveSettings,
  type Log,
  messageOf,
  type Principal,
  type Projection,
  type Tx,
} from '../../kernel/index.js';
import { repeated } from '../cluster/contract.js';
import type { SecretsApi } from '../secrets/contract.js';
import type { Admins } from './admins.js';
import { type AccessTables, sealedSecrets } from './tables.js';
import type { twoFactorSettings } from './two-factor.js';

export interface SecondFactor {
  /** base32; blank where it cannot be opened, which no code fits */
  readonly secret: string;
  /** Unix ms */
  readonly since: number;
  /** Whether others have the same secret, from when it was one for all. */
  readonly isShared: boolean;
}
interface StoredFactor {
  readonly adminId: number;
  readonly secret: string;
  readonly since: number;
  readonly isShared: boolean | number;
}
type Edit = { readonly added: number } | { readonly removed: readonly number[] };

/** Where `access_keys` says that the one secret of all admins was handed to each of them. */
const HANDED_OUT = 'second factors handed out';

export class SecondFactors {
  readonly #db: Database;
  readonly #rows: AccessTables['secondFactors'];
  readonly #tables: AccessTables;
  readonly #admins: Admins;
  readonly #settings: LiveSettings<typeof twoFactorSettings>;
  readonly #secrets: SecretsApi;
  readonly #clock: Clock;
  readonly #log: Log;
  /** ids of the admins who have one */
  readonly projection: Projection<Set<number>, Edit>;

  constructor(parts: {
    db: Database;
    tables: AccessTables;
    admins: Admins;
    settings: LiveSettings<typeof twoFactorSettings>;
    secrets: SecretsApi;
    clock: Clock;
    log: Log;
  }) {
    this.#db = parts.db;
    this.#rows = parts.tables.secondFactors;
    this.#tables = parts.tables;
    this.#admins = parts.admins;
    this.#settings = parts.settings;
    this.#secrets = parts.secrets;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.projection = parts.db.projection<Set<number>, Edit>({
      load: async () => new Set((await this.#read()).map(({ adminId }) => Number(adminId))),
      apply: (ids, edit) => {
        if ('added' in edit) ids.add(edit.added);
        else for (const id of edit.removed) ids.delete(id);
      },
    });
  }

  /** Whether any admin has one. */
  get isAny(): boolean {
    return this.projection.state.size > 0;
  }
  has(adminId: number): boolean {
    return this.projection.state.has(adminId);
  }

  async of(adminId: number, tx?: Tx): Promise<SecondFactor | undefined> {
    const row = await this.#rows.findByPk(adminId, { raw: true, transaction: tx?.t ?? null });
    if (!row) return undefined;
    const { secret, since, isShared } = row as unknown as StoredFactor;
    return { secret: this.#opened(adminId, secret), since: Number(since), isShared: Boolean(isShared) };
  }

  async set(tx: Tx, adminId: number, secret: string, { isShared = false } = {}): Promise<void> {
    const before = await this.of(adminId, tx);
    // Always another one: it tells a factor from the one that it replaced.
    const since = Math.max(this.#clock.now(), (before?.since ?? 0) + 1);
    const sealed = this.#secrets.seal(sealedSecrets, adminId, secret);
    await this.#rows.upsert({ adminId, secret: sealed, since, isShared }, { transaction: tx.t });
    tx.apply(this.projection, { added: adminId });
  }

  async remove(tx: Tx, adminIds: readonly number[]): Promise<void> {
    const where = { adminId: [...adminIds] };
    await this.#rows.destroy({ where, transaction: tx.t });
    await this.#tables.recoveryCodes.destroy({ where, transaction: tx.t });
    tx.apply(this.projection, { removed: adminIds });
  }

  /** Deletes those of these admins, and what earlier releases had for all. */
  async forget(tx: Tx, adminIds: readonly number[], who: Principal): Promise<void> {
    await this.remove(tx, adminIds);
    await this.#tables.sharedCodes.destroy({ where: {}, transaction: tx.t });
    await this.#settings.change(tx, { twoFactorEnable: false, twoFactorToken: '' }, who);
  }

  /** Hands the one secret that earlier releases had for all admins to each of them, once. It stays where it was, for a release that knows no other place. */
  async start(): Promise<void> {
    if (await this.#tables.keys.findByPk(HANDED_OUT)) return;
    // Another panel of the database may start at the same moment.
    await repeated(() => this.#handOutOnce());
  }

  async #handOutOnce(): Promise<void> {
    await this.#db.write(async (tx) => {
      if (await this.#tables.keys.findByPk(HANDED_OUT, { transaction: tx.t })) return;
      const value = String(this.#clock.now());
      await this.#tables.keys.create({ name: HANDED_OUT, value }, { transaction: tx.t });
      const { twoFactorEnable, twoFactorToken } = this.#settings.read();
      // Without a readable secret as well: only recovery codes are accepted then, as before.
      if (twoFactorEnable) await this.#handOut(tx, twoFactorToken);
    });
  }

  async #handOut(tx: Tx, secret: string): Promise<void> {
    const admins = await this.#admins.read(tx);
    const codes = await this.#tables.sharedCodes.findAll({ raw: true, transaction: tx.t });
    const digests = (codes as unknown as { digest: string }[]).map(({ digest }) => digest);
    for (const { id: adminId } of admins) {
      await this.set(tx, adminId, secret, { isShared: admins.length > 1 });
      const rows = digests.map((digest) => ({ adminId, digest }));
      await this.#tables.recoveryCodes.bulkCreate(rows, { transaction: tx.t });
    }
    this.#log.info('each admin has a second factor of its own now', { admins: admins.length });
  }

  async #read(): Promise<readonly StoredFactor[]> {
    return (await this.#rows.findAll({ raw: true })) as unknown as readonly StoredFactor[];
  }

  #opened(adminId: number, sealed: string): string {
    try {
      return this.#secrets.open(sealedSecrets, adminId, sealed);
    } catch (error) {
      this.#log.error('the secret of a second factor cannot be read', { reason: messageOf(error) });
      return '';
    }
  }
}
