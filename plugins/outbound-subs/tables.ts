import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { StoredOutbound } from './stored-outbound.js';
import type { LeftOut } from './left-out.js';

export const tables = {
  subs: table('outbound_subscriptions', {
    id: column.id(),
    remark: column.text(),
    url: column.text(),
    enabled: column.bool(),
    allowPrivate: column.bool(),
    allowInsecure: column.bool(),
    tagPrefix: column.text(),
    /** seconds */
    updateInterval: column.integer(),
    priority: column.integer(),
    prepend: column.bool(),
    /** Unix seconds of the last list that was taken; 0 for none */
    lastUpdated: column.integer(),
    lastError: column.text(),
    /** of the last list that was taken */
    outbounds: column.json<readonly StoredOutbound[]>(),
    leftOut: column.json<LeftOut>(),
    /** tag of the outbound that takes what no rule takes, while this list comes first; empty until there is a list */
    defaultTag: column.text(),
    /** Unix ms of the last try; 0: at once */
    triedAt: column.integer(),
    /** tries that failed since the last good one */
    failures: column.integer(),
    createdAt: column.integer(),
    updatedAt: column.integer(),
  }),
} as const;
export type SubTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-outbound-subscriptions',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE outbound_subscriptions (
        id ${id}, remark VARCHAR(256) NOT NULL, url ${text} NOT NULL, enabled ${bool} NOT NULL,
        allow_private ${bool} NOT NULL, allow_insecure ${bool} NOT NULL, tag_prefix VARCHAR(64) NOT NULL,
        update_interval ${integer} NOT NULL, priority ${integer} NOT NULL, prepend ${bool} NOT NULL,
        last_updated ${integer} NOT NULL, last_error ${text} NOT NULL, outbounds ${json} NOT NULL,
        left_out ${json} NOT NULL, default_tag VARCHAR(256) NOT NULL, tried_at ${integer} NOT NULL,
        failures ${integer} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)`,
    ],
  },
];
