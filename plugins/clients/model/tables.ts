import { column, type Migration, table } from '../../../kernel/index.js';
import { fields } from './fields.js';

/**
 * `emailKey` and `vlessKey` hold the normal form, so a UNIQUE index refuses other spellings.
 *
 * Only `groups` is written through its model. The others are declared because they are the plugin's own: no other
 * plugin may declare them, and `weir purge` knows whose they are.
 */
export const tables = {
  clients: table('clients', {
    id: column.id(),
    ...fields.columns,
    emailKey: column.text(),
    vlessKey: column.text(),
    reverseTag: column.optionalText(),
  }),
  attachments: table('client_inbounds', {
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
  }),
  usage: table('client_usage', {
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
  seen: table('client_seen', {
    clientId: column.key<number>('integer'),
    lastOnline: column.integer(),
    lastSubFetch: column.integer(),
  }),
  credentials: table('client_credentials', {
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    value: column.text(),
  }),
  credentialKeys: table('client_credential_keys', {
    inboundId: column.key<number>('integer'),
    credKey: column.key<string>(),
    clientId: column.integer(),
  }),
  retainedUsage: table('client_kept_usage', {
    emailKey: column.key<string>(),
    inboundId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
    lastOnline: column.integer(),
  }),
  groups: table('client_groups', {
    name: column.key<string>(),
    baselineUp: column.integer(),
    baselineDown: column.integer(),
    created: column.bool(),
  }),
} as const;

// Migrations alone create and change tables. Clients, attachments, counters and sightings are in separate tables: the
// poll writes the narrow ones every few seconds and never touches a client's row.
export const migrations: readonly Migration[] = [
  {
    name: '0001-clients',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE clients (
        id ${id},
        email VARCHAR(255) NOT NULL,
        email_key VARCHAR(255) NOT NULL UNIQUE,
        sub_id VARCHAR(255) NOT NULL UNIQUE,
        uuid VARCHAR(36) NOT NULL,
        vless_key VARCHAR(36) NOT NULL UNIQUE,
        password VARCHAR(255) NOT NULL UNIQUE,
        flow VARCHAR(32) NOT NULL,
        enable ${bool} NOT NULL,
        depleted_cause VARCHAR(8),
        total_gb ${integer} NOT NULL,
        expiry_time ${integer} NOT NULL,
        limit_ip ${integer} NOT NULL,
        limit_hwid ${integer} NOT NULL,
        tg_id ${integer} NOT NULL,
        group_name VARCHAR(255) NOT NULL,
        comment ${text} NOT NULL,
        reset ${integer} NOT NULL,
        reset_day ${integer} NOT NULL,
        reset_max ${integer} NOT NULL,
        reset_count ${integer} NOT NULL,
        reverse ${json},
        created_at ${integer} NOT NULL,
        updated_at ${integer} NOT NULL)`,
      'CREATE INDEX clients_due ON clients (enable, expiry_time)',
      `CREATE TABLE client_inbounds (
        client_id ${integer} NOT NULL,
        inbound_id ${integer} NOT NULL,
        PRIMARY KEY (client_id, inbound_id),
        FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE,
        FOREIGN KEY (inbound_id) REFERENCES inbounds (id) ON DELETE CASCADE)`,
      'CREATE INDEX client_inbounds_inbound ON client_inbounds (inbound_id)',
      // No reference to inbounds: usage still counts when its inbound is deleted.
      `CREATE TABLE client_usage (
        client_id ${integer} NOT NULL,
        inbound_id ${integer} NOT NULL,
        up ${integer} NOT NULL,
        down ${integer} NOT NULL,
        PRIMARY KEY (client_id, inbound_id),
        FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
      `CREATE TABLE client_seen (
        client_id ${integer} PRIMARY KEY,
        last_online ${integer} NOT NULL,
        last_sub_fetch ${integer} NOT NULL,
        FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
  {
    name: '0002-kept-usage',
    // Usage of deleted clients by email, where the caller asked to retain it. Rows are removed when a client with that email is created.
    up: ({ integer }) => [
      `CREATE TABLE client_kept_usage (
        email_key VARCHAR(255) NOT NULL,
        inbound_id ${integer} NOT NULL,
        up ${integer} NOT NULL,
        down ${integer} NOT NULL,
        last_online ${integer} NOT NULL,
        PRIMARY KEY (email_key, inbound_id))`,
    ],
  },
  {
    name: '0003-groups',
    up: ({ integer }) => [
      `CREATE TABLE client_groups (
        name VARCHAR(255) NOT NULL PRIMARY KEY,
        baseline_up ${integer} NOT NULL,
        baseline_down ${integer} NOT NULL)`,
    ],
  },
  {
    name: '0004-created-groups',
    // Until now each row counted as a group that was created.
    up: ({ bool }) => [`ALTER TABLE client_groups ADD COLUMN created ${bool} NOT NULL DEFAULT 1`],
  },
  {
    name: '0005-renewals',
    // `renews_at` is the expiry of clients that can renew, and NULL for all others: a poll finds those that are due
    // without a look at the rest. The database computes it, so no write can forget it.
    up: ({ integer }) => [
      "ALTER TABLE clients ADD COLUMN traffic_reset VARCHAR(16) NOT NULL DEFAULT 'never'",
      `ALTER TABLE clients ADD COLUMN traffic_reset_day ${integer} NOT NULL DEFAULT 1`,
      `ALTER TABLE clients ADD COLUMN counted_since ${integer} NOT NULL DEFAULT 0`,
      'CREATE INDEX clients_schedule ON clients (traffic_reset, counted_since, traffic_reset_day, enable, depleted_cause)',
      `ALTER TABLE clients ADD COLUMN renews_at ${integer} GENERATED ALWAYS AS (
        CASE WHEN expiry_time > 0 AND (reset > 0 OR reset_day > 0) AND (reset_max = 0 OR reset_count < reset_max)
          AND (enable = 1 OR depleted_cause IS NOT NULL) THEN expiry_time END) VIRTUAL`,
      'CREATE INDEX clients_renewal ON clients (renews_at)',
    ],
  },
  {
    name: '0006-credentials',
    // The primary key of the second table makes a key unique in its inbound, on any database.
    up: ({ integer, text }) => [
      `CREATE TABLE client_credentials (
        client_id ${integer} NOT NULL,
        inbound_id ${integer} NOT NULL,
        value ${text} NOT NULL,
        PRIMARY KEY (client_id, inbound_id),
        FOREIGN KEY (client_id, inbound_id) REFERENCES client_inbounds (client_id, inbound_id) ON DELETE CASCADE)`,
      'CREATE INDEX client_credentials_inbound ON client_credentials (inbound_id)',
      `CREATE TABLE client_credential_keys (
        inbound_id ${integer} NOT NULL,
        cred_key VARCHAR(255) NOT NULL,
        client_id ${integer} NOT NULL,
        PRIMARY KEY (inbound_id, cred_key),
        FOREIGN KEY (client_id, inbound_id) REFERENCES client_credentials (client_id, inbound_id) ON DELETE CASCADE)`,
      'CREATE INDEX client_credential_keys_client ON client_credential_keys (client_id, inbound_id)',
    ],
  },
  {
    name: '0007-auth-and-security',
    // Clients of before keep one secret: their password, which is unique as well. No database makes random text for each row in the same way.
    up: () => [
      "ALTER TABLE clients ADD COLUMN auth VARCHAR(255) NOT NULL DEFAULT ''",
      'UPDATE clients SET auth = password',
      // MySQL names the index in its error, not the column: they have one name.
      'CREATE UNIQUE INDEX auth ON clients (auth)',
      "ALTER TABLE clients ADD COLUMN security VARCHAR(32) NOT NULL DEFAULT 'auto'",
    ],
  },
  {
    name: '0008-ad-tag',
    up: () => ["ALTER TABLE clients ADD COLUMN ad_tag VARCHAR(32) NOT NULL DEFAULT ''"],
  },
  {
    name: '0009-reverse-tags',
    // Of clients that have the same tag already, the first one gets it here; the others keep theirs until they are edited.
    up: ({ dialect }) => {
      const tag =
        dialect === 'sqlite'
          ? "json_extract(reverse, '$.tag')"
          : "JSON_UNQUOTE(JSON_EXTRACT(reverse, '$.tag'))";
      return [
        'ALTER TABLE clients ADD COLUMN reverse_tag VARCHAR(255)',
        `UPDATE clients SET reverse_tag = ${tag} WHERE id IN (SELECT first FROM (SELECT min(id) AS first FROM clients WHERE reverse IS NOT NULL GROUP BY ${tag}) AS firsts)`,
        "UPDATE clients SET reverse_tag = NULL WHERE reverse_tag IN ('', 'null')",
        // MySQL names the index in its error, not the column: they have one name.
        'CREATE UNIQUE INDEX reverse_tag ON clients (reverse_tag)',
      ];
    },
  },
  {
    name: '0010-shared-sub-ids',
    // An import may give one subId to several clients. The constraint keeps holding for all others: its column now has
    // the subId of those that have it alone or first.
    up: () => [
      'ALTER TABLE clients RENAME COLUMN sub_id TO sub_key',
      "ALTER TABLE clients ADD COLUMN sub_id VARCHAR(255) NOT NULL DEFAULT ''",
      'UPDATE clients SET sub_id = sub_key',
    ],
  },
  {
    name: '0011-elsewhere',
    up: ({ integer }) => [
      `ALTER TABLE clients ADD COLUMN elsewhere_up ${integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE clients ADD COLUMN elsewhere_down ${integer} NOT NULL DEFAULT 0`,
    ],
  },
];
