import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** What is known about each bot: one row for each token's bot. */
  bots: table('msg_bot_bots', {
    botId: column.key<string>(),
    /** id of the first update that is not handled yet */
    nextUpdate: column.integer(),
    /** Unix ms of the last update */
    updatedAt: column.integer(),
  }),
  /** Questions that the bot has asked and that are not answered yet. */
  dialogs: table('msg_bot_dialogs', {
    userId: column.key<number>('integer'),
    step: column.text(),
    /** JSON */
    data: column.text(),
    /** Unix ms */
    expiresAt: column.integer(),
  }),
  /** When reports were sent: one row. */
  reports: table('msg_bot_reports', {
    id: column.key<number>('integer'),
    runTime: column.text(),
    /** Unix ms from which the next one is computed */
    since: column.integer(),
  }),
} as const;
export type BotTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-bot',
    up: ({ integer, text }) => [
      `CREATE TABLE msg_bot_bots (bot_id VARCHAR(32) NOT NULL PRIMARY KEY, next_update ${integer} NOT NULL, updated_at ${integer} NOT NULL)`,
      `CREATE TABLE msg_bot_dialogs (user_id ${integer} NOT NULL PRIMARY KEY, step VARCHAR(64) NOT NULL, data ${text} NOT NULL, expires_at ${integer} NOT NULL)`,
      `CREATE TABLE msg_bot_reports (id ${integer} NOT NULL PRIMARY KEY, run_time VARCHAR(128) NOT NULL, since ${integer} NOT NULL)`,
    ],
  },
];
