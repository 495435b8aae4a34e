// Devices in exports and imports of clients.
import { int, list, shape, text, withDefault, word, inspect, sentenceOf } from '../../kernel/index.js';
import type { ClientChange, ClientPart } from '../clients/contract.js';
import { MOST_WITH_LIMIT, type DeviceStore } from './device-store.js';
import { errors } from './errors.js';
import { cut } from './sighting.js';
import type { StoredDevice } from './statements.js';

const time = () => int().min(0);
const line = () => withDefault(text().max(2048), '');
const Devices = list(
  shape({
    hash: word().pattern(/^[0-9a-f]{64}$/, 'SHA-256 of the device id, in hex'),
    firstSeen: time(),
    lastSeen: time(),
    userAgent: line(),
    deviceOs: line(),
    osVersion: line(),
    deviceModel: line(),
  }),
).max(MOST_WITH_LIMIT);
type ExportedDevice = Omit<StoredDevice, 'clientId'>;

export const devicePart = (store: DeviceStore): ClientPart => ({
  name: 'devices',
  check: (sent) => {
    const found = inspect(shape({ devices: Devices }), { devices: sent });
    if ('issues' in found) {
      const { issues } = found;
      throw errors.INVALID(sentenceOf(issues), { issues });
    }
    // The same device twice is one.
    const devices = new Map<string, ExportedDevice>();
    for (const { userAgent, deviceOs, osVersion, deviceModel, ...device } of found.value.devices)
      devices.set(device.hash, {
        ...device,
        userAgent: cut(userAgent),
        deviceOs: cut(deviceOs),
        osVersion: cut(osVersion),
        deviceModel: cut(deviceModel),
      });
    return [...devices.values()];
  },
  export: (clientIds, isInWrite) => store.exported(clientIds, isInWrite),
});

/** The devices that were sent with new clients. */
export const devicesOf = (changes: readonly ClientChange[]): StoredDevice[] =>
  changes.flatMap(({ after, parts }) =>
    ((parts?.devices ?? []) as readonly ExportedDevice[]).map((device) => ({
      clientId: after?.id ?? 0,
      ...device,
    })),
  );
