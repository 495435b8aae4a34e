// The database as a whole, for the plugin that backs it up.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import type {
  LastRestore,
  PanelDatabaseApi,
  Rehearsed,
  RehearsalRequest,
} from '../plugins/backup/contract.js';
import { inChild } from './restore/in-child.js';
import { SqliteFile } from './restore/sqlite-file.js';
import { lastRestore, SCRATCH_PREFIX } from './restore/swap.js';
import type { Environment } from './variables.js';

interface Driver {
  readonly snapshot: (url: URL, dataDirectory: string, path: string) => Promise<void>;
}
const KEY_FILE = 'secrets.key';
const MOST_ROWS = 1_000;

export class PanelDatabase implements PanelDatabaseApi {
  readonly #address: string | undefined;
  readonly #dataDirectory: string;
  readonly #env: Environment;

  constructor(address: string | undefined, dataDirectory: string, env: Environment) {
    this.#address = address;
    this.#dataDirectory = dataDirectory;
    this.#env = env;
  }

  async snapshot(path: string): Promise<void> {
    try {
      if (this.#address === undefined) {
        const driver = (await import('../drivers/sqlite/snapshot.js' as string)) as Driver;
        await driver.snapshot(new URL('sqlite:'), this.#dataDirectory, path);
      } else await this.#copyFromServer(this.#address, path);
    } catch (cause) {
      await rm(path, { force: true }).catch(() => undefined);
      throw new Error(`the database cannot be copied to ${path}: ${messageOf(cause)}`, { cause });
    }
  }

  async #copyFromServer(address: string, path: string): Promise<void> {
    const folder = await mkdtemp(join(dirname(path), '.weir-copy-'));
    try {
      const problem = await inChild({ kind: 'copy', address, folder, path }, this.#env);
      if (problem.problem !== '') throw new Error(problem.problem);
    } finally {
      await this.discard(folder);
    }
  }

  async query(
    path: string,
    queries: readonly string[],
  ): Promise<readonly (readonly Readonly<Record<string, unknown>>[])[]> {
    const file = await SqliteFile.openForeign(path);
    try {
      const results: (readonly Readonly<Record<string, unknown>>[])[] = [];
      for (const sql of queries) results.push(await file.rows(`SELECT * FROM (${sql}) LIMIT ${MOST_ROWS}`));
      return results;
    } finally {
      await file.close();
    }
  }

  /** In the data folder, as the database moves from there with one `rename`. */
  async rehearse({
    path,
    keep,
    keys,
    decryption,
    isTrial = false,
  }: RehearsalRequest): Promise<Rehearsed & { readonly folder: string }> {
    const folder = await mkdtemp(join(this.#dataDirectory, SCRATCH_PREFIX));
    try {
      const own = await readFile(join(this.#dataDirectory, KEY_FILE), 'utf8').catch(() => '');
      const lines = [...new Set([...own.split(/\r?\n/), ...keys])].filter((line) => line !== '');
      if (lines.length > 0)
        await writeFile(join(folder, KEY_FILE), `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
      const result = await inChild(
        { kind: 'rehearsal', path, folder, keep, decryption, address: isTrial ? undefined : this.#address },
        this.#env,
      );
      if (result.problem !== '') await this.discard(folder);
      return { ...result, folder };
    } catch (error) {
      await this.discard(folder);
      throw error;
    }
  }

  discard(folder: string): Promise<void> {
    return rm(folder, { recursive: true, force: true });
  }

  lastRestore(): Promise<LastRestore | undefined> {
    return lastRestore(this.#dataDirectory);
  }
}
