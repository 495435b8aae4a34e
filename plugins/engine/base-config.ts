// The part of the core's config that is nobody's inbound: where traffic leaves, and what users of the core may not reach.
import type { CoreBase, JsonObject } from './driver.js';

// IANA special-purpose registries (RFC 6890 and its updates). Named here, so that no geodata file is needed.
const PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

export interface BaseParts {
  readonly outbounds: readonly JsonObject[];
  readonly rules: readonly JsonObject[];
  /** lets users of the core reach loopback and private addresses of this machine and its network */
  readonly allowPrivate: boolean;
}

/** The first outbound is the default one. The refusal of private targets stands before all added rules. */
export function baseConfig({ outbounds, rules, allowPrivate }: BaseParts): CoreBase {
  const refusePrivate: JsonObject[] = [
    { type: 'field', domain: ['full:localhost', 'domain:localhost'], outboundTag: 'blocked' },
    { type: 'field', ip: PRIVATE, outboundTag: 'blocked' },
  ];
  return {
    outbounds: [
      { tag: 'direct', protocol: 'freedom' },
      { tag: 'blocked', protocol: 'blackhole' },
      ...outbounds,
    ],
    routing: {
      // Names are resolved for the address rules, or a name that points to 127.0.0.1 would pass them.
      domainStrategy: allowPrivate ? 'AsIs' : 'IPIfNonMatch',
      rules: [...(allowPrivate ? [] : refusePrivate), ...rules],
    },
  };
}
