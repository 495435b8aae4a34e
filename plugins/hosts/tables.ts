import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import { hostRecord } from './fields.js';

export const tables = {
  /** `createdAt` and `updatedAt` in Unix ms. */
  groups: table('host_groups', {
    groupId: column.key<string>(),
    createdAt: column.integer(),
    updatedAt: column.integer(),
    ...hostRecord.columns,
  }),
  /** One row per address and inbound, in the order of `position` within its group. `ownPort` is null where the group's counts. */
  hosts: table('hosts', {
    id: column.id(),
    groupId: column.text(),
    inboundId: column.integer(),
    address: column.text(),
    ownPort: column.optionalInteger(),
    position: column.integer(),
    createdAt: column.integer(),
  }),
} as const;
export type HostTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-hosts',
    up: ({ id, integer, bool, json, text }) => [
      `CREATE TABLE host_groups (
        group_id VARCHAR(64) PRIMARY KEY, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
        remark VARCHAR(256) NOT NULL, server_description VARCHAR(64) NOT NULL, is_disabled ${bool} NOT NULL, is_hidden ${bool} NOT NULL,
        port ${integer} NOT NULL, security VARCHAR(16) NOT NULL, sni VARCHAR(255) NOT NULL, override_sni_from_address ${bool} NOT NULL,
        keep_sni_blank ${bool} NOT NULL, host_header VARCHAR(255) NOT NULL, path VARCHAR(1024) NOT NULL, alpn ${json} NOT NULL,
        fingerprint VARCHAR(64) NOT NULL, pinned_peer_cert_sha256 ${json} NOT NULL, verify_peer_cert_by_name VARCHAR(1024) NOT NULL,
        ech_config_list ${text} NOT NULL, cipher_suites VARCHAR(2000) NOT NULL, allow_insecure ${bool} NOT NULL,
        mux_params ${text}, sockopt_params ${text}, final_mask ${text} NOT NULL, vless_route VARCHAR(5) NOT NULL,
        alt_ip_version VARCHAR(16) NOT NULL, alt_x25519 ${bool} NOT NULL, shuffle_host ${bool} NOT NULL,
        exclude_from_sub_types ${json} NOT NULL, tags ${json} NOT NULL, node_guids ${json} NOT NULL, sort_order ${integer} NOT NULL)`,
      `CREATE TABLE hosts (
        id ${id}, group_id VARCHAR(64) NOT NULL, inbound_id ${integer} NOT NULL, address VARCHAR(255) NOT NULL, own_port ${integer},
        position ${integer} NOT NULL, created_at ${integer} NOT NULL,
        FOREIGN KEY (group_id) REFERENCES host_groups (group_id) ON DELETE CASCADE,
        FOREIGN KEY (inbound_id) REFERENCES inbounds (id) ON DELETE CASCADE)`,
      'CREATE INDEX hosts_group ON hosts (group_id)',
      'CREATE INDEX hosts_inbound ON hosts (inbound_id)',
    ],
  },
];
