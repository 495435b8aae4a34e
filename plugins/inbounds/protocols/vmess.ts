// VMess. Settings: xtls.github.io, VMess inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { uuidProblem } from './uuid.js';

/** Xray-core 26.3.27, proxy/vmess/account.proto and inbound/config.proto. */
export const vmessAccounts: ApiAccountType = {
  name: 'vmess',
  users: 'api',
  inboundType: 'xray.proxy.vmess.inbound.Config',
  usersField: 1,
  message: 'xray.proxy.vmess.Account',
  fields: { id: { number: 1, type: 'string', lowerCase: true } },
  fault: ({ id }) => uuidProblem(id),
};

export const vmess: Protocol = {
  name: 'vmess',
  title: 'VMess',
  socket: true,
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ uuid }) => ({ protocol: 'vmess', id: uuid }),

  entry: (_inbound, base) => ({
    ...base,
    account: { protocol: 'vmess', id: ({ uuid }) => uuid, security: ({ security }) => security },
  }),
};
