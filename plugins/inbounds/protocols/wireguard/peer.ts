// A client of WireGuard, and of programs that work like it, from its credential in one inbound.
import type { ByClient, ClientIdentity, Inbound } from '../../contract.js';
import { textOf, textsOf } from '../../stream/transport.js';

type InboundId = Pick<Inbound, 'id'>;

export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** What the server knows of it. */
export function peerAccount({ credentials }: ClientIdentity, { id }: InboundId) {
  const own = credentials?.get(id) ?? {};
  return {
    publicKey: textOf(own['publicKey']),
    allowedIPs: textsOf(own['allowedIPs']).join(','),
    preSharedKey: textOf(own['preSharedKey']),
    keepAlive: numberOf(own['keepAlive']),
  };
}

/** What its own program must know, for an entry. */
export function peerFields({ id }: InboundId) {
  const field =
    <T>(read: (value: unknown) => T, name: string): ByClient<T> =>
    ({ credentials }: ClientIdentity) =>
      read(credentials?.get(id)?.[name]);
  return {
    privateKey: field(textOf, 'privateKey'),
    address: field(textsOf, 'allowedIPs'),
    preSharedKey: field(textOf, 'preSharedKey'),
    keepAlive: field(numberOf, 'keepAlive'),
  };
}
