// HTTP proxy (RFC 9110, CONNECT) with name and password. Settings: xtls.github.io, HTTP inbound.
import { bool, custom, optional, shape } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { advanced } from '../form.js';
import { accountsNote, accountsOf, loginAccounts, loginEntry, ownAccounts } from './logins.js';

export const httpAccounts = loginAccounts('http', 'xray.proxy.http.ServerConfig');

export const http: Protocol = {
  name: 'http',
  title: 'HTTP',
  socket: true,
  stream: false,
  settings: custom(
    shape(
      advanced('Logins', {
        accounts: ownAccounts().description('logins beside those of clients; they have no limits'),
        allowTransparent: optional(bool()).description('takes requests that were sent to other servers'),
      }),
    ).unknown(true),
  ),
  coreSettings: (settings): JsonObject => ({
    accounts: accountsOf(settings),
    allowTransparent: settings['allowTransparent'] === true,
  }),
  account: ({ password }) => ({ protocol: 'http', password }),
  entry: (inbound, base) => loginEntry('http', inbound, base),
  note: accountsNote,
};
