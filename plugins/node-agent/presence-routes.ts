import { LARGE_BODY, payload, type Route, route } from '../../kernel/index.js';
import type { Centrals } from './centrals.js';
import { errors } from './errors.js';
import { AddressesElsewhere, AddressesTaken } from './presence-schemas.js';
import type { AddressesOfHere } from './told-addresses.js';
import type { PresenceOfHere } from './told-presence.js';

/** Session, number of the presence, position of the addresses. */
const POSITION = /^([0-9a-f-]{8})\.(\d{1,15})\.(\d{1,15})$/;

interface Needs {
  readonly centrals: Centrals;
  readonly presence: PresenceOfHere;
  readonly addressesOfHere: AddressesOfHere;
}

/** Who is connected, from a position on; a blank one, or that of another process, is the beginning. */
export async function presenceSince(
  { centrals, presence, addressesOfHere }: Needs,
  guid: string,
  position: string,
) {
  const central = centrals.get(guid);
  const [, session, seq, at] = POSITION.exec(position) ?? [];
  const isOurs = session === presence.session;
  const { seq: next, ...told } = await presence.read(central, isOurs ? Number(seq) : -1);
  const { seq: seen, addresses } = await addressesOfHere.read(central, isOurs ? Number(at) : 0);
  return { position: `${presence.session}.${next}.${seen}`, ...told, addresses };
}

export const presenceRoutes = ({ addressesOfHere }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/x/node/addresses',
    name: 'node.addresses',
    doc: 'From where clients of the central connected to all other machines: for two minutes, they count for limitIp like those seen here. Unknown clients are skipped.',
    body: AddressesElsewhere,
    bodyLimit: LARGE_BODY,
    reply: payload(AddressesTaken),
    errors: [errors.UNKNOWN_CENTRAL],
    handle: async ({ body }) => ({ taken: await addressesOfHere.take(body.central, body.seen) }),
  }),
];
