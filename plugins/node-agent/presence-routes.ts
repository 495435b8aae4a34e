import { LARGE_BODY, payload, type Route, route } from '../../kernel/index.js';
import type { Centrals } from './centrals.js';
import { errors } from './errors.js';
import { AddressesElsewhere, DevicesElsewhere, Taken } from './presence-schemas.js';
import type { AddressesOfHere } from './told-addresses.js';
import type { DevicesOfHere } from './told-devices.js';
import type { PresenceOfHere } from './told-presence.js';

/** Session, number of the presence, positions of addresses and devices. */
const POSITION = /^([0-9a-f-]{8})\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/;

interface Needs {
  readonly centrals: Centrals;
  readonly presence: PresenceOfHere;
  readonly addressesOfHere: AddressesOfHere;
  readonly devicesOfHere: DevicesOfHere;
}

/** Who is connected, from a position on; a blank one, or that of another process, is the beginning. */
export async function presenceSince(
  { centrals, presence, addressesOfHere, devicesOfHere }: Needs,
  guid: string,
  position: string,
) {
  const central = centrals.get(guid);
  const [, session, seq, at, fetched] = POSITION.exec(position) ?? [];
  const isOurs = session === presence.session;
  const { seq: next, ...told } = await presence.read(central, isOurs ? Number(seq) : -1);
  const { seq: seen, addresses } = await addressesOfHere.read(central, isOurs ? Number(at) : 0);
  const { seq: last, devices } = await devicesOfHere.read(central, isOurs ? Number(fetched) : 0);
  return { position: `${presence.session}.${next}.${seen}.${last}`, ...told, addresses, devices };
}

export const presenceRoutes = ({ addressesOfHere, devicesOfHere }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/x/node/addresses',
    name: 'node.addresses',
    doc: 'From where clients of the central connected to all other machines: for two minutes, they count for limitIp like those seen here. Unknown clients are skipped.',
    body: AddressesElsewhere,
    bodyLimit: LARGE_BODY,
    reply: payload(Taken),
    errors: [errors.UNKNOWN_CENTRAL],
    handle: async ({ body }) => ({ taken: await addressesOfHere.take(body.central, body.seen) }),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/node/devices',
    name: 'node.devices',
    doc: 'Devices of clients of the central that fetched a subscription at other machines: they take places of limitHwid here too, while there are any. And those that were removed. Unknown clients are skipped.',
    body: DevicesElsewhere,
    bodyLimit: LARGE_BODY,
    reply: payload(Taken),
    errors: [errors.UNKNOWN_CENTRAL],
    handle: async ({ body }) => ({ taken: await devicesOfHere.take(body.central, body.seen) }),
  }),
];
