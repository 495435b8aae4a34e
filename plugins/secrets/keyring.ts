// The keys in use: which one seals, which ones open, and where they come from.
import type { Database, Log } from '../../kernel/index.js';
import type { Columns } from './columns.js';
import { keyFileIn, readKeyFile, writeKeyFile } from './key-file.js';
import { type Key, newKey } from './sealed-text.js';
import type { SecretsTables } from './tables.js';

export interface SecretsConfig {
  readonly secretKey?: readonly Key[] | undefined;
  readonly forget?: string | undefined;
}

export class Keyring {
  readonly #db: Database;
  readonly #ids: SecretsTables['keys'];
  readonly #columns: Columns;
  readonly #log: Log;
  readonly #config: SecretsConfig;
  readonly path: string;
  #given: readonly Key[] = [];
  #filed: readonly Key[] = [];

  constructor({
    db,
    tables: { keys },
    columns,
    log,
    config,
    dataDirectory,
  }: {
    db: Database;
    tables: Pick<SecretsTables, 'keys'>;
    columns: Columns;
    log: Log;
    config: SecretsConfig;
    dataDirectory: string;
  }) {
    this.#db = db;
    this.#ids = keys;
    this.#columns = columns;
    this.#log = log;
    this.#config = config;
    this.path = keyFileIn(dataDirectory);
  }

  /** Whether the key that seals comes from `WEIR_SECRET_KEY`. */
  get isGiven(): boolean {
    return this.#given.length > 0;
  }
  get #all(): readonly Key[] {
    return [...this.#given, ...this.#filed];
  }
  /** Returns the key that seals. */
  get current(): Key {
    const [key] = this.#all;
    if (!key) throw new Error('the plugin secrets has not started yet; seal and open in start or later');
    return key;
  }
  get previous(): readonly Key[] {
    return this.#all.filter(({ id }) => id !== this.current.id);
  }
  withId(id: string): Key | undefined {
    return this.#all.find((key) => key.id === id);
  }

  /** Reads the keys, and creates the first one. Rejects if something is sealed with a missing key. */
  async load(): Promise<void> {
    this.#given = this.#config.secretKey ?? [];
    this.#filed = await readKeyFile(this.path);
    await this.#checkKnown();
    if (this.#all.length === 0) {
      const first = newKey();
      await writeKeyFile(this.path, [first]);
      this.#filed = [first];
      this.#log.info('created the key for secrets; include it in the backup', {
        file: this.path,
        key: first.id,
      });
    }
    await this.#remember(this.current);
  }

  /** Adds a key, which seals from now on. The file is on disk before anything is sealed with the key. */
  async add(): Promise<Key> {
    const key = newKey();
    await writeKeyFile(this.path, [key, ...this.#filed]);
    this.#filed = [key, ...this.#filed];
    await this.#remember(key);
    return key;
  }

  /** Call it when nothing is sealed with them any more. Only admins remove keys of the environment, and a file beside them. */
  async dropPrevious(): Promise<void> {
    const { current } = this;
    if (!this.isGiven && this.#filed.length > 1) {
      await writeKeyFile(this.path, [current]);
      this.#filed = [current];
    }
    for (const id of await this.#known()) if (id !== current.id) await this.#forget(id);
  }

  async #known(): Promise<string[]> {
    const rows = (await this.#ids.findAll({ raw: true })) as unknown as { id: string }[];
    return rows.map(({ id }) => id);
  }
  async #remember({ id }: Key): Promise<void> {
    if ((await this.#known()).includes(id)) return;
    await this.#db.write(({ t: transaction }) =>
      this.#ids.upsert({ id }, { transaction }).then(() => undefined),
    );
  }
  async #forget(id: string): Promise<void> {
    await this.#db.write(({ t: transaction }) =>
      this.#ids.destroy({ where: { id }, transaction }).then(() => undefined),
    );
  }

  async #checkKnown(): Promise<void> {
    for (const id of await this.#known()) {
      if (this.withId(id)) continue;
      const uses = await this.#columns.usesOf(id);
      if (uses.length > 0 && this.#config.forget !== id) throw new Error(this.#lost(id, uses));
      await this.#forget(id);
      if (uses.length > 0) this.#log.warn('giving up secrets whose key is missing', { key: id, lost: uses });
    }
  }

  #lost(id: string, uses: Awaited<ReturnType<Columns['usesOf']>>): string {
    const what = uses.map(({ name, count }) => `${count} in ${name}`).join(', ');
    const there = this.#all.map((key) => key.id).join(', ') || 'none';
    return `secrets are sealed with the key ${id} (${what}), which is neither in ${this.path} nor in WEIR_SECRET_KEY (there: ${there}); put ${this.path} back from the backup of this database, or set WEIR_SECRET_KEY to that key, or give these secrets up with WEIR_SECRET_FORGET=${id}`;
  }
}
