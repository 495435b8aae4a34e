// One server of the provider, as its list describes it, and the tunnel to it.
import { isIPv6 } from 'node:net';
import {
  anything,
  custom,
  hostName,
  inspect,
  int,
  list,
  optional,
  shape,
  type Static,
  word,
} from '../../kernel/index.js';
import { type WireguardTunnel, wireguardKey } from '../core-template/contract.js';

/** The technology of WireGuard in the provider's lists. */
export const WIREGUARD = 35;
const PORT = 51_820;
/** Every user of the provider has this address in the tunnel. */
const OWN_ADDRESS = '10.5.0.2/32';
/** A tag has at most 128 characters. */
const LONGEST_HOST = 100;

export interface Server {
  readonly hostname: string;
  /** address or name */
  readonly station: string;
  /** base64 */
  readonly publicKey: string;
}

export const HostName = () =>
  custom<string>(
    word()
      .max(LONGEST_HOST)
      .custom((value: string) => {
        const host = hostName(value);
        if (host === undefined) throw new Error('it must be a host name or an address');
        return host;
      }),
  );

/** What is used of an entry of the list. */
export const ListedServer = shape({
  hostname: HostName(),
  station: HostName(),
  technologies: list(
    shape({
      id: int(),
      metadata: optional(list(shape({ name: word(), value: optional(anything()) }).unknown(true)).max(50)),
    }).unknown(true),
  ).max(100),
}).unknown(true);

/** Returns the server, or the reason against the entry. */
export function serverOf({ hostname, station, technologies }: Static<typeof ListedServer>): Server | string {
  const { metadata = [] } = technologies.find(({ id }) => id === WIREGUARD) ?? {};
  const key = metadata.find(({ name }) => name === 'public_key')?.value;
  const publicKey = typeof key === 'string' ? wireguardKey(key) : undefined;
  return publicKey === undefined
    ? `its technologies have no ${WIREGUARD} with a public_key of 32 bytes in base64`
    : { hostname, station, publicKey };
}

/** Reads an entry of the list as the provider sends it; returns the reason where it cannot be used. */
export function readServer(value: unknown): Server | string {
  const result = inspect(ListedServer, value, { first: true });
  return 'value' in result ? serverOf(result.value) : (result.issues[0]?.message ?? '');
}

export const tagOf = ({ hostname }: Server): string => `nord-${hostname}`;

export const tunnelTo = ({ station, publicKey }: Server, privateKey: string): WireguardTunnel => ({
  secretKey: wireguardKey(privateKey) ?? '',
  addresses: [OWN_ADDRESS],
  publicKey,
  endpoint: `${isIPv6(station) ? `[${station}]` : station}:${PORT}`,
});
