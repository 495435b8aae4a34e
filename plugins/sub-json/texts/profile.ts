// `subJsonRoutingRules`: rules and name servers in the form of a routing profile, as JSON or as the deep link that programs
// import. Facts of the form: the routing profiles of Happ (happ.su, docs).
import Joi from 'joi';
import type { JsonObject } from '../../engine/contract.js';
import { domainProblem, networkProblem, serverProblem } from './addresses.js';
import { checked, fields, line, lineThat, maybe, parsed } from './json-text.js';
import { dnsOf } from './dns.js';

export interface Profile {
  readonly dns: JsonObject;
  readonly domainStrategy: string;
  readonly rules: readonly JsonObject[];
}

const LINK = /^(?:happ|incy):\/\/routing\/(?:on)?add\/([\w+/=-]+)$/i;
const MOST = 20_000;
const text = () => maybe(line().allow(''));
const server = () => maybe(lineThat(serverProblem).allow(''));
const domains = () => maybe(Joi.array().items(lineThat(domainProblem)).max(MOST));
const networks = () => maybe(Joi.array().items(lineThat(networkProblem)).max(MOST));

const GROUPS = ['block', 'proxy', 'direct'] as const;
/** Other keys are for the program, not for the core. */
const PROFILE = fields({
  DomainStrategy: maybe(Joi.valid('', 'AsIs', 'IPIfNonMatch', 'IPOnDemand')),
  RemoteDNSDomain: server(),
  RemoteDNSIP: server(),
  DomesticDNSDomain: server(),
  DomesticDNSIP: server(),
  RouteOrder: maybe(
    lineThat((order) => {
      const parts = order.split('-');
      return parts.every((part) => (GROUPS as readonly string[]).includes(part)) && new Set(parts).size === 3
        ? undefined
        : 'it must be block, proxy and direct in an order of their own, with dashes between them';
    }).allow(''),
  ),
  DirectSites: domains(),
  DirectIp: networks(),
  ProxySites: domains(),
  ProxyIp: networks(),
  BlockSites: domains(),
  BlockIp: networks(),
  DnsHosts: maybe(Joi.object().pattern(line(), Joi.alternatives(line(), Joi.array().items(line())))),
  Name: text(),
}).unknown(true);

type Values = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): string[] => (value as string[] | undefined) ?? [];
const textOf = (value: unknown): string => (value as string | undefined) ?? '';

function valuesIn(setting: string): unknown {
  const [, encoded] = LINK.exec(setting.trim()) ?? [];
  if (encoded === undefined) return parsed(setting);
  // Node reads both alphabets of base64.
  return parsed(Buffer.from(encoded, 'base64').toString());
}

/** The URL of a name server: a domain that is one already, or the DNS over HTTPS of an address. */
const resolver = (domain: unknown, address: unknown, otherwise: string): string =>
  textOf(domain) || `https://${textOf(address) || otherwise}/dns-query`;

const groupRules = (group: string, { sites, ips }: { sites: string[]; ips: string[] }): JsonObject[] => [
  ...(sites.length > 0 ? [{ type: 'field', domain: sites, outboundTag: group }] : []),
  ...(ips.length > 0 ? [{ type: 'field', ip: ips, outboundTag: group }] : []),
];

/** Undefined where nothing is set. */
export function readProfile(setting: string): Profile | undefined {
  const value = valuesIn(setting);
  if (value === undefined) return undefined;
  const profile = checked(PROFILE, value) as Values;
  const direct = listOf(profile['DirectSites']);
  const remote = resolver(profile['RemoteDNSDomain'], profile['RemoteDNSIP'], '8.8.8.8');
  const domestic = resolver(profile['DomesticDNSDomain'], profile['DomesticDNSIP'], '77.88.8.8');
  const hosts = (profile['DnsHosts'] ?? {}) as JsonObject;
  const lists: Readonly<Record<string, { sites: string[]; ips: string[] }>> = {
    direct: { sites: direct, ips: listOf(profile['DirectIp']) },
    proxy: { sites: listOf(profile['ProxySites']), ips: listOf(profile['ProxyIp']) },
    block: { sites: listOf(profile['BlockSites']), ips: listOf(profile['BlockIp']) },
  };
  const order = textOf(profile['RouteOrder']) || 'block-direct-proxy';
  return {
    dns: {
      ...dnsOf([
        ...(direct.length > 0 ? [{ address: domestic, domains: direct }] : []),
        { address: remote, skipFallback: false },
      ]),
      ...(Object.keys(hosts).length > 0 && { hosts }),
    },
    domainStrategy: textOf(profile['DomainStrategy']) || 'IPIfNonMatch',
    rules: order.split('-').flatMap((group) => groupRules(group, lists[group] ?? { sites: [], ips: [] })),
  };
}
