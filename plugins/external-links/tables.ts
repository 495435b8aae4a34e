import { column, type Migration, table } from '../../kernel/index.js';

export const tables = {
  /** They are deleted with their client. */
  links: table('client_external_links', {
    id: column.id(),
    clientId: column.integer(),
    kind: column.text<'link' | 'subscription'>(),
    value: column.text(),
    remark: column.text(),
    enable: column.bool(),
    expiryTime: column.integer(),
    namePrefix: column.text(),
    lastFetchAt: column.integer(),
    lastFetchError: column.text(),
    sortIndex: column.integer(),
    createdAt: column.integer(),
  }),
  /** The links of a URL, one a line, as the last good fetch brought them. */
  sources: table('client_external_sources', {
    /** SHA-256 in hexadecimal: URLs are too long for a key */
    urlHash: column.key<string>(),
    url: column.text(),
    links: column.text(),
    triedAt: column.integer(),
    failures: column.integer(),
    error: column.text(),
  }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-external-links',
    up: ({ id, integer, bool, text }) => [
      `CREATE TABLE client_external_links (
        id ${id}, client_id ${integer} NOT NULL, kind VARCHAR(16) NOT NULL, value ${text} NOT NULL, remark VARCHAR(255) NOT NULL,
        enable ${bool} NOT NULL, expiry_time ${integer} NOT NULL, name_prefix VARCHAR(255) NOT NULL,
        last_fetch_at ${integer} NOT NULL, last_fetch_error ${text} NOT NULL, sort_index ${integer} NOT NULL, created_at ${integer} NOT NULL,
        FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
      'CREATE INDEX client_external_links_client ON client_external_links (client_id, sort_index)',
    ],
  },
  {
    name: '0002-external-sources',
    up: ({ integer, text }) => [
      `CREATE TABLE client_external_sources (
        url_hash VARCHAR(64) NOT NULL PRIMARY KEY, url ${text} NOT NULL, links ${text} NOT NULL,
        tried_at ${integer} NOT NULL, failures ${integer} NOT NULL, error ${text} NOT NULL)`,
    ],
  },
];
