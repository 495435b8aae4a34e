// Trojan. Link: trojan-gfw's URL with the parameters of the Xray share-link proposal. Settings: xtls.github.io, Trojan inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { escapeComponent, queryOf, streamParams } from './share-link.js';

export const trojan: Protocol = {
  name: 'trojan',
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ password }) => ({ protocol: 'trojan', password }),

  link({ streamSettings }) {
    const query = queryOf(streamParams(streamSettings));
    return ({ client, authority, fragment }) => `trojan://${escapeComponent(client.password)}@${authority}?${query}${fragment}`;
  },
};
