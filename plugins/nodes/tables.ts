import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { StoredState } from './status/node-state.js';

export const tables = {
  /** What an admin sets. `apiToken` is sealed, or blank. Times are Unix seconds. */
  nodes: table('nodes', {
    id: column.id(),
    name: column.text(),
    remark: column.text(),
    scheme: column.text<'http' | 'https'>(),
    address: column.text(),
    port: column.integer(),
    basePath: column.text(),
    apiToken: column.text(),
    enable: column.bool(),
    allowPrivateAddress: column.bool(),
    inboundSyncMode: column.text<'all' | 'selected'>(),
    inboundTags: column.json<readonly string[]>(),
    outboundTag: column.text(),
    tlsVerifyMode: column.text<'verify' | 'skip' | 'pin' | 'mtls'>(),
    pinnedCertSha256: column.text(),
    createdAt: column.integer(),
    updatedAt: column.integer(),
  }),
  /** What a node said last, written when its status changes and once a minute. */
  states: table('node_states', {
    nodeId: column.key<number>('integer'),
    state: column.json<StoredState>(),
  }),
  /** Authorities of this panel as a central, and its own certificate by each. Keys are sealed. The newest is used first. */
  authorities: table('node_authorities', {
    id: column.id(),
    caCert: column.text(),
    caKey: column.text(),
    clientCert: column.text(),
    clientKey: column.text(),
    createdAt: column.integer(),
  }),
  /** Authorities of central panels that this panel trusts as a node: one row, PEM. */
  trusted: table('node_trusted', { id: column.key<string>(), pem: column.text() }),
} as const;
export type NodeTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-nodes',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE nodes (
        id ${id}, name VARCHAR(64) NOT NULL UNIQUE, remark VARCHAR(256) NOT NULL, scheme VARCHAR(8) NOT NULL,
        address VARCHAR(255) NOT NULL, port ${integer} NOT NULL, base_path VARCHAR(255) NOT NULL,
        api_token ${text} NOT NULL, enable ${bool} NOT NULL, allow_private_address ${bool} NOT NULL,
        inbound_sync_mode VARCHAR(16) NOT NULL, inbound_tags ${json} NOT NULL, outbound_tag VARCHAR(255) NOT NULL,
        tls_verify_mode VARCHAR(16) NOT NULL, pinned_cert_sha256 VARCHAR(64) NOT NULL,
        created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)`,
      `CREATE TABLE node_states (node_id ${integer} PRIMARY KEY, state ${json} NOT NULL)`,
      `CREATE TABLE node_authorities (
        id ${id}, ca_cert ${text} NOT NULL, ca_key ${text} NOT NULL, client_cert ${text} NOT NULL,
        client_key ${text} NOT NULL, created_at ${integer} NOT NULL)`,
      `CREATE TABLE node_trusted (id VARCHAR(16) PRIMARY KEY, pem ${text} NOT NULL)`,
    ],
  },
];
