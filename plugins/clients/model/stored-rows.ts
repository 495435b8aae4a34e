// Reads clients from the database, with what other tables say about them.
import type { Database, SqlWords } from '../../../kernel/index.js';
import { fields } from './fields.js';
import { storedNames } from './row.js';

/** Counters stop here: JSON transports no greater number exactly. */
export const MAX_BYTES = Number.MAX_SAFE_INTEGER;
/** Rows of one SELECT. Two lists of them fit into the young generation (panel/heap.ts): what is read is collected soon. */
export const ROWS_PER_SELECT = 250;

export interface StoredRow {
  readonly id: number;
  /** its values as JSON, in the order of `storedNames` */
  readonly stored: string;
}

const selectWith = ({ least }: SqlWords): string => `
  SELECT id, CAST(json_array(${storedNames.map((name) => `"${name}"`).join(', ')}) AS char) AS stored FROM (
  SELECT c.id, ${fields.select('c')},
    (SELECT group_concat(inbound_id) FROM client_inbounds a WHERE a.client_id = c.id) AS inboundIds,
    coalesce((SELECT ${least}(sum(up), ${MAX_BYTES}) FROM client_usage u WHERE u.client_id = c.id), 0) AS up,
    coalesce((SELECT ${least}(sum(down), ${MAX_BYTES}) FROM client_usage u WHERE u.client_id = c.id), 0) AS down,
    coalesce(s.last_online, 0) AS lastOnline, coalesce(s.last_sub_fetch, 0) AS lastSubFetch
  FROM clients c LEFT JOIN client_seen s ON s.client_id = c.id WHERE c.id > :from ORDER BY c.id LIMIT :count
  ) AS selected ORDER BY id`;

/** The next clients with higher ids than `from`, by id. */
export const readRows = (
  db: Pick<Database, 'query' | 'sql'>,
  from: number,
  count = ROWS_PER_SELECT,
): Promise<StoredRow[]> => db.query<StoredRow>(selectWith(db.sql), { from, count });
