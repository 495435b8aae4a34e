// Trojan. Settings: xtls.github.io, Trojan inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { ownCredential, passwordOf } from './own-credential.js';

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
  title: 'Trojan',
  socket: true,
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  credential: ownCredential('password'),
  account: (client, inbound) => ({ protocol: 'trojan', password: passwordOf(client, inbound) }),

  // No flow: the core has taken it out of Trojan and refuses a config that has one.
  entry: (inbound, base) => ({
    ...base,
    account: { protocol: 'trojan', password: (client) => passwordOf(client, inbound) },
  }),
};
