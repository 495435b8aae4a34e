// Transport, security and masks together, as the family of VLESS has them.
import type { FinalMask, Security, Transport } from '../inbounds/contract.js';
import { masksIn } from './masks.js';
import type { Parameters } from './parameters.js';
import { securityIn } from './security.js';
import { transportIn } from './transport.js';

export interface Stream {
  readonly transport: Transport;
  readonly security: Security;
  readonly finalMask?: FinalMask;
}

export const streamIn = (parameters: Parameters, security: 'none' | 'tls'): Stream => ({
  transport: transportIn(parameters),
  security: securityIn(parameters, security),
  ...masksIn(parameters),
});
