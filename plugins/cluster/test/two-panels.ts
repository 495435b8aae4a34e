// Several panels on one database, each a process of its own.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseOf, dropDatabase } from '../../../test/harness/database.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';

const KEY = 'kQm5l0m8mJ0n0J7h3g1mYb7c6q0m5l0m8mJ0n0J7h3g=';
const ENTRY = fileURLToPath(new URL('./panel-entry.js', import.meta.url));

export class Panels {
  /** the folder that the database is named after */
  readonly #name: string;
  readonly url: string;
  readonly #started: PanelProcess[] = [];

  private constructor(name: string, url: string) {
    this.#name = name;
    this.url = url;
  }

  static async open(): Promise<Panels> {
    const name = await mkdtemp(join(tmpdir(), 'weir-cluster-'));
    const url = await databaseOf(name);
    if (url === undefined) throw new Error('several panels need a server');
    return new Panels(name, url);
  }

  /** Starts one more panel. */
  async start(
    name: string,
    env: Record<string, string> = {},
    { dataDirectory, entry = ENTRY }: { readonly dataDirectory?: string; readonly entry?: string } = {},
  ): Promise<PanelProcess> {
    const panel = await PanelProcess.start({
      ...(dataDirectory !== undefined && { dataDirectory }),
      entry,
      env: {
        WEIR_DATABASE_URL: this.url,
        WEIR_CLUSTER: name,
        WEIR_SECRET_KEY: KEY,
        WEIR_ENGINE_INSTALL: 'off',
        WEIR_ENGINE_BIN: '/nonexistent/xray',
        ...env,
      },
    });
    this.#started.push(panel);
    return panel;
  }

  async query<R>(sql: string): Promise<R[]> {
    const { createConnection } = await import('mysql2/promise');
    const connection = await createConnection(this.url);
    try {
      return (await connection.query(sql))[0] as R[];
    } finally {
      await connection.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const panel of this.#started) {
      panel.signal('SIGCONT');
      await panel.dispose();
    }
    await dropDatabase(this.#name);
  }
}

/** Whether this panel runs what only one runs. */
export const leads = (panel: PanelProcess): boolean =>
  panel.log.some(({ msg }) => msg === 'this panel leads: it runs the jobs and the core');
