// The transport of Hysteria 2: HTTP/3 over QUIC, which only the protocol of this name uses. Settings: xtls.github.io,
// Hysteria transport; XTLS/Xray-core, infra/conf/transport_internet.go, HysteriaConfig.
import { int, oneOf, optional, shape } from '../../../kernel/index.js';
import type { Transport } from './transport.js';

export const hysteria: Transport = {
  name: 'hysteria',
  alias: undefined,
  keys: ['hysteriaSettings'],
  settings: shape({
    // Another version is refused by the core, with its own words.
    version: optional(int()),
    /** seconds; 0 for the core's own */
    udpIdleTimeout: optional(int().min(0).max(600)),
    // Its other keys belong to one of these, and core-guard checks what they reach.
    masquerade: optional(
      shape({ type: optional(oneOf('', '404', 'proxy', 'file', 'string')) }).unknown(true),
    ),
  }).unknown(true),
  entry: () => ({ kind: 'own' }),
};
