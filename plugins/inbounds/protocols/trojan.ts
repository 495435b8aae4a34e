// Trojan. Link: trojan-gfw's URL with the parameters of the Xray share-link proposal. Settings: xtls.github.io, Trojan inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { streamParams } from '../stream/stream.js';
import { compileQuery, escapeComponent } from './share-link.js';

/** Xray-core 26.3.27, proxy/trojan/config.proto. */
export const trojanAccounts: ApiAccountType = {
  name: 'trojan',
  users: 'api',
  inboundType: 'xray.proxy.trojan.ServerConfig',
  usersField: 1,
  message: 'xray.proxy.trojan.Account',
  fields: { password: { number: 1, type: 'string' } },
  fault: ({ password }) => (password === '' ? 'password must not be empty' : undefined),
};

export const trojan: Protocol = {
  name: 'trojan',
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ password }) => ({ protocol: 'trojan', password }),

  // No flow: the core has taken it out of Trojan and refuses a config that has one.
  link({ streamSettings }) {
    const query = compileQuery(streamParams(streamSettings));
    return ({ client, authority, fragment }) =>
      `trojan://${escapeComponent(client.password)}@${authority}?${query(client)}${fragment}`;
  },
};
