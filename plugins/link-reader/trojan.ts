// Source: trojan-gfw's URL, with the parameters of the Xray share-link proposal (XTLS/Xray-core discussion 716).
import { authorityIn, credentialsIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { streamIn } from './stream.js';

const DEFAULT_PORT = 443;

/** Without `security` it is TLS, as everywhere with this protocol. */
export const trojan: SchemeReader = {
  schemes: ['trojan'],
  read({ body }): ReadEntry {
    const authority = authorityIn(body);
    return {
      server: authority.server,
      port: portIn(authority.portText, DEFAULT_PORT),
      account: { protocol: 'trojan', password: credentialsIn(authority, 'password') },
      ...streamIn(authority.parameters, 'tls'),
    };
  },
};
