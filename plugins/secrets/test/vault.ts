// A third-party plugin that keeps tokens, and what lies in the database of its panel.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryTypes } from 'sequelize';
import {
  column,
  contribute,
  definePlugin,
  messageOf,
  payload,
  route,
  shape,
  table,
  text,
} from '../../../kernel/index.js';
import { databaseEnvironment } from '../../../test/harness/database.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { type PanelOptions, TestPanel } from '../../../test/harness/panel.js';
import { type Ended, weirCommand } from '../../../test/harness/weir-command.js';
import { type SealedColumn, SealedColumns, Secrets } from '../contract.js';

const sealedTokens: SealedColumn = { table: 'x_vault_tokens', key: 'name', column: 'token' };

export const vault = definePlugin({
  name: 'vault',
  version: '1.0.0',
  api: 1,
  about: 'Keeps tokens.',
  uses: { secrets: Secrets },
  tables: { tokens: table('x_vault_tokens', { name: column.key<string>(), token: column.text() }) },
  migrations: [
    {
      name: '0001-tokens',
      up: ({ text: long }) => [
        `CREATE TABLE x_vault_tokens (name VARCHAR(64) PRIMARY KEY, token ${long} NOT NULL)`,
      ],
    },
  ],
  contributes: () => [contribute(SealedColumns, sealedTokens)],
  routes: ({ db, tables: { tokens }, secrets }) => [
    route({
      method: 'POST',
      path: '/panel/api/x/vault/put',
      doc: 'Keeps a token.',
      body: shape({ name: text(), token: text() }),
      reply: payload(shape({ token: text() })),
      handle: async ({ body: { name, token } }) => {
        const sealed = secrets.seal(sealedTokens, name, token);
        await db.write(({ t: transaction }) => tokens.upsert({ name, token: sealed }, { transaction }));
        return { token: sealed };
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/vault/{name}',
      doc: 'The token.',
      params: shape({ name: text() }),
      reply: payload(shape({ token: text() })),
      handle: async ({ params: { name } }) => {
        const row = await tokens.findByPk(name);
        try {
          return { token: secrets.open(sealedTokens, name, row?.get().token ?? '') };
        } catch (error) {
          return { token: messageOf(error) };
        }
      },
    }),
  ],
});

export const bootWith = (options: PanelOptions): Promise<TestPanel> =>
  // The audit has a sealed key of its own, and these tests count.
  TestPanel.boot({ plugins: [new FakeEngine().plugin], without: ['audit'], ...options });
export const bootVault = (options: PanelOptions = {}): Promise<TestPanel> =>
  bootWith({ outside: [vault], ...options });

export const put = async (panel: TestPanel, name: string, token: string): Promise<string> =>
  (await panel.get<{ token: string }>('/panel/api/x/vault/put', { method: 'POST', body: { name, token } }))
    .token;
export const get = async (panel: TestPanel, name: string): Promise<string> =>
  (await panel.get<{ token: string }>(`/panel/api/x/vault/${name}`)).token;

export const rowsOf = <R extends object>(dataDirectory: string, sql: string): Promise<R[]> =>
  withDatabase(dataDirectory, (sequelize) => sequelize.query<R>(sql, { type: QueryTypes.SELECT }));
export const keyLines = async (dataDirectory: string): Promise<string[]> =>
  (await readFile(join(dataDirectory, 'secrets.key'), 'utf8')).trim().split('\n');

/** `weir …` on the database of the test. */
export const weir = async (
  dataDirectory: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  weirCommand(dataDirectory, argv, { ...(await databaseEnvironment(dataDirectory)), ...env });
