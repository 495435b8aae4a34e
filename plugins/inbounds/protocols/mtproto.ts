// MTProto: a proxy for Telegram, which a program of its own runs. Settings: github.com/9seconds/mtg.
import Joi from 'joi';
import { isIPv4, isIPv6 } from 'node:net';
import {
  annotate,
  bool,
  custom,
  describedAs,
  int,
  oneOf,
  optional,
  shape,
  text,
  withDefault,
} from '../../../kernel/index.js';
import type { ClientIdentity, Inbound, Protocol, ProtocolCredential } from '../contract.js';
import { advanced, forClients, section } from '../form.js';
import { loopbackPort } from '../ports/loopback-port.js';
import { textOf } from '../stream/transport.js';
import { DEFAULT_DOMAIN, DOMAIN, secretKey, validSecret } from './mtproto-secret.js';

const address = (families: readonly ('ipv4' | 'ipv6')[], what: string) =>
  describedAs(
    text().custom((value: string, state) =>
      value === '' || families.some((family) => (family === 'ipv4' ? isIPv4(value) : isIPv6(value)))
        ? value
        : state.error('any.custom', { error: new Error(`it must be ${what}, or blank`) }),
    ),
    { anyOf: [{ const: '' }, ...families.map((format) => ({ type: 'string', format }))] },
  );
/** Of older panels: each client has its own. */
const dropped = () => optional(Joi.any().strip());

const throughCore = { when: { field: 'routeThroughEngine' } };
const settings = shape({
  ...section('Disguise', {
    fakeTlsDomain: withDefault(text().pattern(DOMAIN, 'host name'), DEFAULT_DOMAIN).description(
      'site that the proxy pretends to be',
    ),
  }),
  ...advanced('Disguise', {
    domainFronting: optional(
      shape(
        advanced('Disguise', {
          ip: optional(address(['ipv4', 'ipv6'], 'an IP address')).description('empty: that of the site'),
          port: optional(int().min(0).max(65_535)).description('0: that of the site'),
          proxyProtocol: optional(bool()).description('tells it the address of the client'),
        }),
      ).unknown(true),
    ).description('where somebody who is no client is led to'),
  }),
  ...section('Way out', {
    routeThroughEngine: optional(bool()).description('its traffic leaves through the core'),
    outboundTag: annotate(optional(text().max(128)), throughCore).description(
      'outbound of the core; empty: as the rules say',
    ),
    routeEnginePort: annotate(optional(int().min(0).max(65_535)), {
      ...throughCore,
      level: 'advanced',
      readOnly: true,
    }).description('port of this machine by which it reaches the core'),
  }),
  ...advanced('Way out', {
    preferIp: optional(oneOf('prefer-ipv6', 'prefer-ipv4', 'only-ipv6', 'only-ipv4')),
    publicIpv4: optional(address(['ipv4'], 'an IPv4 address')).description('as Telegram sees this machine'),
    publicIpv6: optional(address(['ipv6'], 'an IPv6 address')).description('as Telegram sees this machine'),
  }),
  ...advanced('Limits', {
    throttleMaxConnections: optional(int().min(0)).description('connections at once; 0 for no limit'),
  }),
  ...advanced('Program', {
    proxyProtocolListener: optional(bool()).description(
      'a proxy in front tells the address of the client by the PROXY protocol',
    ),
    debug: optional(bool()).description('the program logs more'),
  }),
  secret: dropped(),
  adTag: dropped(),
}).unknown(true);

const domainOf = ({ settings: own }: Pick<Inbound, 'settings'>): string =>
  textOf(own['fakeTlsDomain']) || DEFAULT_DOMAIN;

const credential: ProtocolCredential = {
  flat: ['secret'],
  schema: shape(
    forClients('Credentials', {
      secret: annotate(optional(text().max(1000)), { secret: true, generated: true }),
    }),
  ),
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
  title: 'MTProto (Telegram)',
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
