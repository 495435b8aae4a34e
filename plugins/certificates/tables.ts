import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { NameProof } from './certificate-pairs.js';
import type { Challenge, KeyType, OrderState, StoredUses } from './fields.js';

export const tables = {
  certificates: table('certificates', {
    id: column.id(),
    /** name of its folder; random, so that a restored database never meets the files of another certificate */
    folder: column.text(),
    names: column.json<readonly string[]>(),
    challenge: column.text<Challenge>(),
    directory: column.text(),
    keyType: column.text<KeyType>(),
    uses: column.json<StoredUses>(),
    /** it was issued, or its uses changed, and not everything uses it yet */
    usesPending: column.bool(),
    /** orders that failed since the last one that did not */
    failures: column.integer(),
    /** Unix ms before which nothing is ordered */
    notBefore: column.integer(),
    /** `notBefore` is the authority's word */
    isRefused: column.bool(),
    lastError: column.text(),
    createdAt: column.integer(),
  }),
  orders: table('certificate_orders', {
    id: column.id(),
    certificateId: column.integer(),
    /** of directory and names: orders count for the limits of the authority even when the certificate was removed */
    identity: column.text(),
    /** folder of key and chain, below that of the certificate */
    folder: column.text(),
    /** at the authority; empty until it has confirmed the order */
    url: column.text(),
    state: column.text<OrderState>(),
    problem: column.text(),
    startedAt: column.integer(),
    /** 0 while it is open */
    endedAt: column.integer(),
  }),
  pairs: table('certificate_pairs', {
    /** `folder` of the order */
    id: column.key<string>('text'),
    certificateId: column.integer(),
    /** name of the panel that orders, or has ordered; blank outside a cluster */
    panel: column.text(),
    /** Unix ms since which it works on it */
    since: column.integer(),
    /** what proves the names while the order is open */
    answers: column.json<readonly NameProof[]>(),
    /** the certificate is in use; else its order is open */
    isIssued: column.bool(),
    /** PEM; blank until it is issued */
    chain: column.text(),
    /** PEM, sealed */
    privateKey: column.text(),
  }),
  accounts: table('acme_accounts', {
    id: column.key<string>('text'),
    directory: column.text(),
    email: column.text(),
    /** PEM, sealed */
    privateKey: column.text(),
    /** at the authority; empty until it has confirmed the account */
    url: column.text(),
    createdAt: column.integer(),
  }),
} as const;
export type CertificateTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-certificates',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE certificates (
        id ${id}, folder VARCHAR(128) NOT NULL, names ${json} NOT NULL, challenge VARCHAR(32) NOT NULL,
        directory ${text} NOT NULL, key_type VARCHAR(32) NOT NULL, uses ${json} NOT NULL,
        uses_pending ${bool} NOT NULL, failures ${integer} NOT NULL, not_before ${integer} NOT NULL,
        is_refused ${bool} NOT NULL, last_error ${text} NOT NULL, created_at ${integer} NOT NULL)`,
      `CREATE TABLE certificate_orders (
        id ${id}, certificate_id ${integer} NOT NULL, identity VARCHAR(64) NOT NULL, folder VARCHAR(128) NOT NULL,
        url ${text} NOT NULL, state VARCHAR(32) NOT NULL, problem ${text} NOT NULL, started_at ${integer} NOT NULL,
        ended_at ${integer} NOT NULL)`,
      'CREATE INDEX certificate_orders_identity ON certificate_orders (identity)',
      `CREATE TABLE acme_accounts (
        id VARCHAR(64) PRIMARY KEY, directory ${text} NOT NULL, email VARCHAR(320) NOT NULL,
        private_key ${text} NOT NULL, url ${text} NOT NULL, created_at ${integer} NOT NULL)`,
    ],
  },
  {
    name: '0002-pairs',
    up: ({ integer, bool, text, json }) => [
      `CREATE TABLE certificate_pairs (
        id VARCHAR(128) PRIMARY KEY, certificate_id ${integer} NOT NULL, panel VARCHAR(64) NOT NULL,
        since ${integer} NOT NULL, answers ${json} NOT NULL, is_issued ${bool} NOT NULL, chain ${text} NOT NULL, private_key ${text} NOT NULL)`,
    ],
  },
];
