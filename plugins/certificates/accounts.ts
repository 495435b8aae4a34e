// Accounts at authorities: one for each directory and address. The key is stored before the authority learns of it, so a
// crash in between leaves no account that nobody can use.
import { randomBytes } from 'node:crypto';
import type { Client } from 'acme-client';
import type { Clock, Database, LiveSettings, Row, Tx } from '../../kernel/index.js';
import { repeatedWrite } from '../cluster/contract.js';
import type { SealedColumn, SecretsApi } from '../secrets/contract.js';
import type { Library } from './acme-library.js';
import { CaProblem, inDatabase } from './ca-problem.js';
import type { certificateSettings } from './settings.js';
import type { CertificateTables, tables } from './tables.js';

type Account = Row<(typeof tables)['accounts']>;

export const accountKeys: SealedColumn = { table: 'acme_accounts', key: 'id', column: 'private_key' };
/** Such an external account has a key that is no longer taken. */
const UNKNOWN = 'accountDoesNotExist';

/** Accounts that are tried beside the present one. */
const MOST_OTHERS = 20;
const isForOther = (error: unknown): boolean =>
  error instanceof CaProblem && (error.type === 'unauthorized' || error.type === UNKNOWN);

/** Empty until the authority has named it. */
function urlOf(client: Client): string {
  try {
    return client.getAccountUrl();
  } catch {
    return '';
  }
}

export class Accounts {
  readonly #db: Database;
  readonly #rows: CertificateTables['accounts'];
  readonly #clock: Clock;
  readonly #secrets: SecretsApi;
  readonly #settings: LiveSettings<typeof certificateSettings>;

  constructor(needs: {
    db: Database;
    tables: CertificateTables;
    clock: Clock;
    secrets: SecretsApi;
    settings: LiveSettings<typeof certificateSettings>;
  }) {
    this.#db = needs.db;
    this.#rows = needs.tables.accounts;
    this.#clock = needs.clock;
    this.#secrets = needs.secrets;
    this.#settings = needs.settings;
  }

  /** Runs `work` with a client of the library for an account that the authority knows. */
  async with<T>(library: Library, directory: string, work: (client: Client) => Promise<T>): Promise<T> {
    const account = await this.#find(library, directory);
    try {
      return await work(await this.#client(library, account));
    } catch (error) {
      if (!(error instanceof CaProblem) || error.type !== UNKNOWN || account.url === '') throw error;
      // It was deleted there; the same key opens another one.
      await this.#note(account, '');
      return work(await this.#client(library, { ...account, url: '' }));
    }
  }

  /** Like `with`, but where the account is not allowed to, others of this directory try: `acmeEmail` may have changed. */
  async withAny<T>(library: Library, directory: string, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await this.with(library, directory, work);
    } catch (refusal) {
      if (!isForOther(refusal)) throw refusal;
      const rows = await inDatabase(this.#rows.findAll({ order: [['createdAt', 'DESC']] }));
      const all = rows.map((row) => row.get());
      const { acmeEmail } = this.#settings.read();
      const others = all.filter((one) => one.directory === directory && one.email !== acmeEmail);
      for (const account of others.filter(({ url }) => url !== '').slice(0, MOST_OTHERS))
        try {
          return await work(await this.#client(library, account));
        } catch (error) {
          if (!isForOther(error)) throw error;
        }
      throw refusal;
    }
  }

  async #find(library: Library, directory: string): Promise<Account> {
    const email = this.#settings.read().acmeEmail;
    const known = async (transaction?: Tx['t']): Promise<Account | undefined> => {
      const rows = await this.#rows.findAll({ where: { email }, ...(transaction && { transaction }) });
      return rows.map((row) => row.get()).find((account) => account.directory === directory);
    };
    const found = await inDatabase(known());
    if (found) return found;
    const id = randomBytes(16).toString('hex');
    const key = String(await library.crypto.createPrivateEcdsaKey('P-256'));
    const account = {
      id,
      directory,
      email,
      privateKey: this.#secrets.seal(accountKeys, id, key),
      url: '',
      createdAt: this.#clock.now(),
    };
    return inDatabase(
      repeatedWrite(this.#db, async (tx) => {
        // Another panel may have made one a moment before.
        const other = await known(tx.t);
        if (!other) await this.#rows.create(account, { transaction: tx.t });
        return other ?? account;
      }),
    );
  }

  async #client(library: Library, { id, directory, email, privateKey, url }: Account): Promise<Client> {
    const { acmeKeyId: kid, acmeHmacKey: hmacKey } = this.#settings.read();
    const client = new library.Client({
      directoryUrl: directory,
      accountKey: this.#secrets.open(accountKeys, id, privateKey),
      ...(url !== '' && { accountUrl: url }),
      ...(kid !== '' && hmacKey !== '' && { externalAccountBinding: { kid, hmacKey } }),
    });
    if (url !== '') return client;
    const contact = email !== '' && { contact: [`mailto:${email}`] };
    await client.createAccount({ termsOfServiceAgreed: true, ...contact }).catch((error: unknown) => {
      // It existed already, and the library also sends an update of it, which some authorities refuse.
      if (urlOf(client) === '') throw error;
    });
    await this.#note({ id }, urlOf(client));
    return client;
  }

  #note({ id }: Pick<Account, 'id'>, url: string): Promise<void> {
    return inDatabase(
      repeatedWrite(
        this.#db,
        async (tx) => void (await this.#rows.update({ url }, { where: { id }, transaction: tx.t })),
      ),
    );
  }
}
