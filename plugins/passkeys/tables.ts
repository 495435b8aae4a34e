import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

export const tables = {
  /**
   * `digest` is the SHA-256 of `credentialId` in hex, which may be longer than a key of MySQL. `publicKey` is a COSE key in
   * base64url. `counter` is that of the last login. `rpId` and `origin` are of the page that registered it. Times in Unix
   * ms, `lastUsedAt` 0 for never.
   */
  keys: table('passkeys', {
    id: column.id(),
    adminId: column.integer(),
    name: column.text(),
    digest: column.text(),
    credentialId: column.text(),
    publicKey: column.text(),
    counter: column.integer(),
    transports: column.json<readonly string[]>(),
    rpId: column.text(),
    origin: column.text(),
    createdAt: column.integer(),
    lastUsedAt: column.integer(),
  }),
  /** SHA-256 in hex of the challenges that were answered; `expiresAt` in Unix ms. */
  answered: table('passkey_challenges', { digest: column.key<string>(), expiresAt: column.integer() }),
  /** The secret that challenges are made of, sealed. */
  secrets: table('passkey_secrets', { name: column.key<string>(), value: column.text() }),
} as const;
export type PasskeyTables = TableModels<typeof tables>;

export const sealedSecrets: SealedColumn = { table: 'passkey_secrets', key: 'name', column: 'value' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-passkeys',
    up: ({ id, integer, json, text }) => [
      `CREATE TABLE passkeys (id ${id}, admin_id ${integer} NOT NULL, name VARCHAR(64) NOT NULL, digest VARCHAR(64) NOT NULL UNIQUE, credential_id ${text} NOT NULL, public_key ${text} NOT NULL, counter ${integer} NOT NULL, transports ${json} NOT NULL, rp_id VARCHAR(255) NOT NULL, origin VARCHAR(300) NOT NULL, created_at ${integer} NOT NULL, last_used_at ${integer} NOT NULL)`,
      `CREATE TABLE passkey_challenges (digest VARCHAR(64) PRIMARY KEY, expires_at ${integer} NOT NULL)`,
      `CREATE TABLE passkey_secrets (name VARCHAR(64) PRIMARY KEY, value ${text} NOT NULL)`,
    ],
  },
];
