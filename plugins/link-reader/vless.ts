// Source: the Xray share-link proposal (XTLS/Xray-core discussion 716).
import { authorityIn, credentialsIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { streamIn } from './stream.js';

/** Older flows need a core that nobody has any more. */
const FLOW = /^(?:xtls-rprx-vision(?:-udp443)?)?$/;
const DEFAULT_PORT = 443;

export const vless: SchemeReader = {
  schemes: ['vless'],
  read({ body }): ReadEntry {
    const authority = authorityIn(body);
    const { server, portText, parameters } = authority;
    const flow = parameters.get('flow');
    if (!FLOW.test(flow)) throw new LinkError('flow', 'its flow is unknown; it may be xtls-rprx-vision');
    return {
      server,
      port: portIn(portText, DEFAULT_PORT),
      account: {
        protocol: 'vless',
        id: credentialsIn(authority, 'id'),
        flow,
        encryption: parameters.get('encryption') || 'none',
      },
      ...streamIn(parameters, 'none'),
    };
  },
};
