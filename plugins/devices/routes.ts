// Routes of devices, for admins.
import { int, list, message, payload, route, type Route, shape, text, word } from '../../kernel/index.js';
import { clientErrors, type ClientRow, type ClientsApi } from '../clients/contract.js';
import type { DeviceStore } from './device-store.js';
import { errors } from './errors.js';
import { fingerprintOf } from './sighting.js';

const email = word().example('ada@example.org');
const Device = shape({
  id: int(),
  firstSeen: int(),
  lastSeen: int(),
  userAgent: text(),
  deviceOs: text(),
  osVersion: text(),
  deviceModel: text(),
  fingerprint: text().description('first 12 hex digits of the SHA-256 of the device id'),
});

interface Needs {
  readonly store: DeviceStore;
  readonly clients: ClientsApi;
}

export const deviceRoutes = ({ store, clients }: Needs): Route[] => {
  const find = (name: string): ClientRow => {
    const row = clients.byEmail(name);
    if (!row) throw clientErrors.NOT_FOUND(`there is no client ${name}`, { path: 'email' });
    return row;
  };
  return [
    route({
      method: 'POST',
      path: '/panel/api/clients/hwids/{email}',
      name: 'clients.devices',
      doc: 'Lists the devices of a client, the one that was seen last first.',
      params: shape({ email }),
      reply: payload(list(Device)),
      errors: [clientErrors.NOT_FOUND],
      handle: async ({ params }) =>
        (await store.list(find(params.email).id)).map(({ hash, ...device }) => ({
          ...device,
          fingerprint: fingerprintOf(hash),
        })),
    }),
    route({
      method: 'DELETE',
      path: '/panel/api/clients/hwids/{email}',
      name: 'clients.deleteDevices',
      doc: 'Forgets all devices of a client; each takes a place again with its next fetch.',
      params: shape({ email }),
      reply: message(),
      errors: [clientErrors.NOT_FOUND],
      handle: async ({ params, who }) => `${await store.remove(find(params.email), who)} devices deleted`,
    }),
    route({
      method: 'DELETE',
      path: '/panel/api/clients/hwids/{email}/{deviceId}',
      name: 'clients.deleteDevice',
      doc: 'Forgets one device of a client.',
      params: shape({ email, deviceId: int().min(1).example(1) }),
      reply: message(),
      errors: [clientErrors.NOT_FOUND, errors.NOT_FOUND],
      handle: async ({ params: { email: name, deviceId }, who }) => {
        if ((await store.remove(find(name), who, deviceId)) === 0)
          throw errors.NOT_FOUND(`the client ${name} has no device ${deviceId}`, { path: 'deviceId' });
        return 'device deleted';
      },
    }),
  ];
};
