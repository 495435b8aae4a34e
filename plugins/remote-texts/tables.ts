import { column, type Migration, table } from '../../kernel/index.js';

export const tables = {
  /** What the last good fetch of each setting brought. */
  texts: table('remote_texts', {
    setting: column.key<string>(),
    url: column.text(),
    body: column.text(),
    /** of the reply; '' for none */
    etag: column.text(),
    fetchedAt: column.integer(),
    triedAt: column.integer(),
    failures: column.integer(),
    error: column.text(),
  }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-remote-texts',
    up: ({ integer, text }) => [
      `CREATE TABLE remote_texts (
        setting VARCHAR(64) NOT NULL PRIMARY KEY, url ${text} NOT NULL, body ${text} NOT NULL, etag ${text} NOT NULL,
        fetched_at ${integer} NOT NULL, tried_at ${integer} NOT NULL, failures ${integer} NOT NULL, error ${text} NOT NULL)`,
    ],
  },
];
