// Statements over many devices at once.
import type { Tx } from '../../kernel/index.js';
import type { DeviceDescription } from './contract.js';
import type { Gone } from './waiting-rows.js';

export interface StoredDevice extends DeviceDescription {
  readonly clientId: number;
  readonly hash: string;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

const COLUMNS = {
  client_id: 'integer',
  hash: 'text',
  first_seen: 'integer',
  last_seen: 'integer',
  user_agent: 'text',
  device_os: 'text',
  os_version: 'text',
  device_model: 'text',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');

/** Stores devices; of known ones the last sighting and the description change. Devices of deleted clients are skipped. */
export async function saveDevices(tx: Tx, devices: readonly StoredDevice[]): Promise<void> {
  if (devices.length === 0) return;
  const { rows, incoming, greatest, onConflict } = tx.sql;
  const set = ['user_agent', 'device_os', 'os_version', 'device_model'].map(
    (name) => `${name} = ${incoming(name)}`,
  );
  await tx.run(
    `INSERT INTO client_devices (${NAMES})
     SELECT ${Object.keys(COLUMNS)
       .map((name) => `j.${name}`)
       .join(', ')} FROM ${rows(COLUMNS)} AS j JOIN clients ON clients.id = j.client_id WHERE true
     ${onConflict('client_id, hash', [`last_seen = ${greatest}(client_devices.last_seen, ${incoming('last_seen')})`, ...set].join(', '))}`,
    {
      rows: JSON.stringify(
        devices.map((device) => [
          device.clientId,
          device.hash,
          device.firstSeen,
          device.lastSeen,
          device.userAgent,
          device.deviceOs,
          device.osVersion,
          device.deviceModel,
        ]),
      ),
    },
  );
}

export async function deleteDevices(tx: Tx, devices: readonly Gone[]): Promise<void> {
  const byClient = new Map<number, string[]>();
  for (const { clientId, hash } of devices) {
    const hashes = byClient.get(clientId);
    if (hashes) hashes.push(hash);
    else byClient.set(clientId, [hash]);
  }
  for (const [clientId, hashes] of byClient)
    await tx.run('DELETE FROM client_devices WHERE client_id = :clientId AND hash IN (:hashes)', {
      clientId,
      hashes,
    });
}
