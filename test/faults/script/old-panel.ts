// A database of 3x-ui that the script imports.
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute } from '../../../plugins/import-3x-ui/test/database.js';
import { sourceRoot } from '../../harness/source-root.js';
import { OLD_INBOUND } from './files.js';

const FIXTURE = 'plugins/import-3x-ui/test/fixture/x-ui.db';
const OTHERS = [
  ...[
    'users',
    'settings',
    'outbound_traffics',
    'inbound_client_ips',
    'client_traffics',
    'nodes',
    'api_tokens',
  ],
  ...['clients', 'client_inbounds', 'client_hwids', 'client_external_links', 'client_groups', 'hosts'],
  ...['inbound_fallbacks', 'node_client_traffics', 'node_client_ips', 'client_global_traffics'],
  'outbound_subscriptions',
];

/** A database of 3x-ui with one inbound and these clients. */
export async function oldPanel(folder: string, port: number, emails: readonly string[]): Promise<Uint8Array> {
  const path = join(folder, 'x-ui.db');
  await copyFile(new URL(FIXTURE, await sourceRoot()), path);
  const others = OTHERS.map((table) => `DELETE FROM ${table};`);
  const rows = emails.map((email, i) => {
    const uuid = crypto.randomUUID();
    return `INSERT INTO clients (id, email, sub_id, uuid, password, total_gb, expiry_time, enable, group_name, comment)
      VALUES (${i + 1}, '${email}', '${uuid}', '${uuid}', '${uuid}', 0, 0, 1, '', '');
      INSERT INTO client_traffics (inbound_id, enable, email, up, down, expiry_time, total) VALUES (1, 1, '${email}', 5, 7, 0, 0);
      INSERT INTO client_inbounds (client_id, inbound_id) VALUES (${i + 1}, 1);`;
  });
  await execute(
    path,
    `PRAGMA journal_mode=DELETE; ${others.join(' ')} DELETE FROM inbounds WHERE id > 1;
    UPDATE inbounds SET remark = '${OLD_INBOUND}', port = ${port}, tag = 'moved-in', listen = '127.0.0.1', up = 0, down = 0,
      total = 0, enable = 1, expiry_time = 0, sub_sort_index = 1, stream_settings = '{"network":"tcp","security":"none"}',
      settings = '{"decryption":"none","clients":[]}';
    ${rows.join('\n')}`,
  );
  return readFile(path);
}
