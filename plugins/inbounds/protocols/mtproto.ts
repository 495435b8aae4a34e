// MTProto: a proxy for Telegram, which a program of its own runs. Settings: github.com/9seconds/mtg.
import Joi from 'joi';
import { isIPv4, isIPv6 } from 'node:net';
import { bool, custom, int, oneOf, optional, shape, text, withDefault } from '../../../kernel/index.js';
import type { ClientIdentity, Inbound, Protocol, ProtocolCredential } from '../contract.js';
import { loopbackPort } from '../ports/loopback-port.js';
import { textOf } from '../stream/transport.js';
import { DEFAULT_DOMAIN, DOMAIN, secretKey, validSecret } from './mtproto-secret.js';

const address = (isOne: (value: string) => boolean, what: string) =>
  text().custom((value: string, state) =>
    isOne(value) ? value : state.error('any.custom', { error: new Error(`it must be ${what}, or blank`) }),
  );
const isBlank = (value: string): boolean => value === '';
/** Of older panels: each client has its own. */
const dropped = () => optional(Joi.any().strip());

const settings = shape({
  fakeTlsDomain: withDefault(text().pattern(DOMAIN, 'host name'), DEFAULT_DOMAIN),
  proxyProtocolListener: optional(bool()),
  debug: optional(bool()),
  preferIp: optional(oneOf('prefer-ipv6', 'prefer-ipv4', 'only-ipv6', 'only-ipv4')),
  domainFronting: optional(
    shape({
      ip: optional(address((value) => isBlank(value) || isIPv4(value) || isIPv6(value), 'an IP address')),
      port: optional(int().min(0).max(65_535)),
      proxyProtocol: optional(bool()),
    }).unknown(true),
  ),
  /** connections at once; 0 for no limit */
  throttleMaxConnections: optional(int().min(0)),
  /** Its traffic leaves through the core, by a port of this machine. */
  routeThroughEngine: optional(bool()),
  outboundTag: optional(text().max(128)),
  /** The panel's own: what is sent is replaced. */
  routeEnginePort: optional(int().min(0).max(65_535)),
  publicIpv4: optional(address((value) => isBlank(value) || isIPv4(value), 'an IPv4 address')),
  publicIpv6: optional(address((value) => isBlank(value) || isIPv6(value), 'an IPv6 address')),
  secret: dropped(),
  adTag: dropped(),
}).unknown(true);

const domainOf = ({ settings: own }: Pick<Inbound, 'settings'>): string =>
  textOf(own['fakeTlsDomain']) || DEFAULT_DOMAIN;

const credential: ProtocolCredential = {
  flat: ['secret'],
  schema: shape({ secret: optional(text().max(1000)) }),
  sample: { secret: validSecret('0'.repeat(32), DEFAULT_DOMAIN) },
  create(sent, { inbound, before }) {
    const wanted = textOf(sent['secret']);
    const secret = wanted === '' ? textOf(before?.['secret']) : wanted;
    return { secret: validSecret(secret, domainOf(inbound)) };
  },
  keys: ({ secret }) => [secretKey(textOf(secret))],
};
const secretOf = ({ credentials }: ClientIdentity, { id }: Inbound): string =>
  textOf(credentials?.get(id)?.['secret']);

export const mtproto: Protocol = {
  name: 'mtproto',
  settings: custom(settings),
  runBy: 'program',
  stream: false,
  l4: () => ['tcp'],
  credential,
  async reserve({ routeEnginePort: _theirs, outboundTag, ...own }, { before, isTaken }) {
    if (own['routeThroughEngine'] !== true) return own;
    const port = before?.['routeEnginePort'] ?? (await loopbackPort(isTaken));
    return { ...own, ...(outboundTag !== undefined && { outboundTag }), routeEnginePort: port };
  },
  coreSettings: () => ({}),
  account: (client, inbound) => ({
    protocol: 'mtproto',
    secret: secretOf(client, inbound),
    adTag: client.adTag,
  }),
  entry: (inbound, base) => ({
    ...base,
    transport: { kind: 'own' },
    security: { kind: 'none' },
    account: { protocol: 'mtproto', secret: (client) => secretOf(client, inbound) },
  }),
  option: (inbound) => ({ mtprotoDomain: domainOf(inbound) }),
};
