// What belongs to this machine, and not to the data: addresses, ports, certificates, and who the panel is to others.
import type { Database } from '../../kernel/index.js';
import { HOST_SETTINGS, type HostRows } from './contract.js';

type Row = Readonly<Record<string, string | number | null>>;

/** A value that is missing here is missing after the restore too: then the default holds. */
export async function hostRows(db: Database): Promise<HostRows> {
  const settings = await db.query<Row>(
    'SELECT name, value, "generated" FROM settings WHERE name IN (:names)',
    { names: HOST_SETTINGS },
  );
  const identity = await db.query<Row>("SELECT id, guid FROM panel_identity WHERE id = 'panel'");
  return [
    { table: 'settings', key: 'name', keys: HOST_SETTINGS, rows: settings },
    { table: 'panel_identity', key: 'id', keys: ['panel'], rows: identity },
  ];
}
