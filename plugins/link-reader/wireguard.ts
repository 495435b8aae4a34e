// As v2rayN and Xray's client programs write it; no authority has written its grammar down.
import { authorityIn, credentialsIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { itemsOf, numberIn } from './text.js';

const DEFAULT_PORT = 51_820;
const UP_TO_16_BITS = [0, 65_535] as const;

export const wireguard: SchemeReader = {
  schemes: ['wireguard', 'wg'],
  read({ body }): ReadEntry {
    const authority = authorityIn(body);
    const { server, portText, parameters } = authority;
    const publicKey = parameters.base64('publickey', 'publicKey', 'public_key', 'peerPublicKey');
    if (publicKey === '') throw new LinkError('publickey', 'it has no public key of the server (publickey)');
    const address = itemsOf(parameters.get('address', 'ip'));
    if (address.length === 0) throw new LinkError('address', 'it has no address of the client (address)');
    if (/[1-9]/.test(parameters.get('reserved')))
      throw new LinkError('reserved', 'its reserved bytes cannot be expressed here');
    return {
      server,
      port: portIn(portText, DEFAULT_PORT),
      account: {
        protocol: 'wireguard',
        privateKey: credentialsIn(authority, 'private key'),
        publicKey,
        address,
        preSharedKey: parameters.base64('presharedkey', 'preshared_key', 'pre-shared-key', 'psk'),
        keepAlive:
          numberIn(parameters.get('keepalive', 'persistentkeepalive'), 'keepalive', UP_TO_16_BITS) ?? 0,
        mtu: numberIn(parameters.get('mtu'), 'mtu', UP_TO_16_BITS) ?? 0,
        dns: parameters.get('dns'),
      },
      transport: { kind: 'own' },
      security: { kind: 'none' },
    };
  },
};
