// VMess. Settings: xtls.github.io, VMess inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';

export const vmess: Protocol = {
  name: 'vmess',
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ uuid }) => ({ protocol: 'vmess', id: uuid }),

  entry: (_inbound, base) => ({
    ...base,
    account: { protocol: 'vmess', id: ({ uuid }) => uuid, security: 'auto' },
  }),
};
