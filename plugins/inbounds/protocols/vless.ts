// VLESS. Link: Xray share-link proposal (XTLS/Xray-core discussion 716). Settings: xtls.github.io, VLESS inbound.
import { custom, oneOf, optional, shape, withDefault } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { queryOf, streamParams } from './share-link.js';

const settings = shape({
  // The core refuses a VLESS inbound without it.
  decryption: withDefault(oneOf('none'), 'none'),
  encryption: optional(oneOf('none')),
}).unknown(true);

export const vless: Protocol = {
  name: 'vless',
  settings: custom(settings),

  // `encryption` is the client's half; the core's config knows only `decryption`.
  coreSettings: ({ clients: _clients, encryption: _encryption, ...rest }) => rest as JsonObject,

  // Vision needs TLS or REALITY below it; on a bare stream the core would take the flow and refuse the connection.
  account: ({ uuid }) => ({ protocol: 'vless', id: uuid, flow: '' }),

  link({ settings: { encryption }, streamSettings }) {
    const query = queryOf({ encryption: typeof encryption === 'string' ? encryption : 'none', ...streamParams(streamSettings) });
    return ({ client, authority, fragment }) => `vless://${client.uuid}@${authority}?${query}${fragment}`;
  },
};
