// HTTP proxy (RFC 9110, CONNECT) with name and password. Settings: xtls.github.io, HTTP inbound.
import { bool, custom, optional, shape } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { accountsNote, accountsOf, loginAccounts, loginEntry, ownAccounts } from './logins.js';

export const httpAccounts = loginAccounts('http', 'xray.proxy.http.ServerConfig');

export const http: Protocol = {
  name: 'http',
  socket: true,
  stream: false,
  settings: custom(shape({ accounts: ownAccounts(), allowTransparent: optional(bool()) }).unknown(true)),
  coreSettings: (settings): JsonObject => ({
    accounts: accountsOf(settings),
    allowTransparent: settings['allowTransparent'] === true,
  }),
  account: ({ password }) => ({ protocol: 'http', password }),
  entry: (inbound, base) => loginEntry('http', inbound, base),
  note: accountsNote,
};
