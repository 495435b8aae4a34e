// Trojan. Settings: xtls.github.io, Trojan inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';

export const trojan: Protocol = {
  name: 'trojan',
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ password }) => ({ protocol: 'trojan', password }),

  // No flow: the core has taken it out of Trojan and refuses a config that has one.
  entry: (_inbound, base) => ({
    ...base,
    account: { protocol: 'trojan', password: ({ password }) => password },
  }),
};
