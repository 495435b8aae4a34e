// Templates that would open a way to this machine, by what they try.
import type { JsonObject } from '../../plugins/engine/contract.js';

const direct: JsonObject = { tag: 'direct', protocol: 'freedom' };
const nameServer: JsonObject = { servers: ['127.0.0.1'] };
const all = (target: JsonObject): JsonObject => ({
  rules: [{ type: 'field', network: 'tcp,udp', ...target }],
});
const leadsTo = (outbound: JsonObject, dns: JsonObject = nameServer): JsonObject => ({
  dns,
  outbounds: [{ tag: 'way', ...outbound }, direct],
  routing: all({ outboundTag: 'way' }),
});
const balanced = (balancer: JsonObject, outbounds: readonly JsonObject[] = [direct]): JsonObject => ({
  dns: nameServer,
  outbounds,
  observatory: { subjectSelector: ['nobody'], probeInterval: '1h' },
  routing: { ...all({ balancerTag: 'pool' }), balancers: [{ tag: 'pool', ...balancer }] },
});
const withDns = (dns: JsonObject): JsonObject => ({ dns, outbounds: [direct] });

/** `port`: of a service on loopback */
export const TEMPLATES: Readonly<Record<string, (port: number) => JsonObject>> = {
  plain: () => withDns(nameServer),
  'a balancer of freedoms': () => balanced({ selector: ['direct'] }),
  'a balancer that falls back to a freedom': () => balanced({ selector: ['nobody'], fallbackTag: 'direct' }),
  'a balancer that pings freedoms': () => ({
    ...balanced({ selector: ['direct'], strategy: { type: 'leastPing' } }),
    observatory: { subjectSelector: ['direct'], probeURL: 'http://server.test/', probeInterval: '1s' },
  }),
  'a balancer of a freedom and an outbound whose tag its own begins with': () =>
    balanced({ selector: ['dir'] }, [direct, { tag: 'dir', protocol: 'blackhole' }]),
  "a balancer of the panel's outbounds": () => balanced({ selector: ['weir.dns'] }),
  "a balancer of beginnings of the panel's tags": () => balanced({ selector: ['we'] }),
  'two selectors under one key': () => balanced({ selector: ['direct'], Selector: ['weir.dns'] }),
  "a loopback as the panel's DNS": () =>
    leadsTo({ protocol: 'loopback', settings: { inboundTag: 'weir.dns' } }),
  "a freedom through the panel's DNS": () =>
    leadsTo({ protocol: 'freedom', proxySettings: { tag: 'weir.dns' } }),
  "a dialer through the panel's DNS": () =>
    leadsTo({ protocol: 'freedom', streamSettings: { sockopt: { dialerProxy: 'weir.dns' } } }),
  'settings in another case': () =>
    leadsTo({
      protocol: 'FREEDOM',
      Settings: { DomainStrategy: 'UseIPv4' },
      StreamSettings: { Sockopt: {} },
    }),
  'a freedom with another target strategy': () =>
    leadsTo({ protocol: 'freedom', targetStrategy: 'UseIPv4', TargetStrategy: 'UseIPv4' }),
  'hosts in brackets': () => withDns({ ...nameServer, hosts: { 'given.test': '[127.0.0.1]' } }),
  'hosts in brackets, IPv6': () =>
    withDns({ ...nameServer, hosts: { 'given.test': ['[::ffff:127.0.0.1]'] } }),
  'hosts with blanks': () => withDns({ ...nameServer, hosts: { 'given.test': ' 127.0.0.1 ' } }),
  'hosts in another case': () => withDns({ ...nameServer, Hosts: { 'given.test': '127.0.0.1' } }),
  'hosts through a name': () =>
    withDns({ ...nameServer, hosts: { 'given.test': 'other.test', 'other.test': 'loopback.test' } }),
  'hosts as a number': () => withDns({ ...nameServer, hosts: { 'given.test': '2130706433' } }),
  'hosts of the system': () => withDns({ ...nameServer, useSystemHosts: true }),
  'hosts for a pattern': () => withDns({ ...nameServer, hosts: { 'regexp:^given': '127.0.0.1' } }),
  'two lists under one key of a name server': () =>
    withDns({ servers: [{ address: '127.0.0.1', unexpectedIPs: [], UnexpectedIPs: ['192.0.2.0/24'] }] }),
  'a star among the unexpected': () =>
    withDns({ servers: [{ address: '127.0.0.1', unexpectedIPs: '*,192.0.2.0/24' }] }),
  'expected private addresses': () =>
    withDns({ servers: [{ address: '127.0.0.1', expectedIPs: ['127.0.0.0/8', '*'] }] }),
  'a name server with a tag': () => withDns({ servers: [{ address: '127.0.0.1', tag: 'other' }] }),
  'a redirection without a port': () =>
    leadsTo({ protocol: 'freedom', settings: { redirect: '127.0.0.1:0' } }),
  'a redirection in another notation': (port) =>
    leadsTo({ protocol: 'freedom', settings: { redirect: `127.0.0.1:00${port}` } }),
  "a reverse proxy with the panel's tag": () =>
    leadsTo({
      protocol: 'vless',
      settings: {
        address: '203.0.113.80',
        port: 9,
        id: '5783a3e7-e373-51cd-8642-c83782b807c5',
        encryption: 'none',
        reverse: { tag: 'weir.dns' },
      },
    }),
  "a bridge with the panel's tag": () => ({
    ...withDns(nameServer),
    reverse: { bridges: [{ tag: 'weir.dns', domain: 'a.test' }] },
  }),
  'a DNS outbound without a port': () =>
    leadsTo({ protocol: 'dns', settings: { address: '127.0.0.1', nonIPQuery: 'skip' } }),
};

/** One of many that a running core takes: each round has other outbounds, rules and balancers, and another default. */
export function changing(round: number): JsonObject {
  const way: JsonObject = { tag: 'way', protocol: 'freedom', settings: { userLevel: round % 3 } };
  const outbounds =
    [
      [direct, way],
      [way, direct],
      [{ tag: 'hole', protocol: 'blackhole' }, direct, way],
    ][round % 3] ?? [];
  return {
    dns: nameServer,
    outbounds,
    routing: {
      domainStrategy: round % 2 === 0 ? 'AsIs' : 'IPIfNonMatch',
      rules: [
        { port: String(1 + (round % 7)), outboundTag: 'direct' },
        { ip: ['0.0.0.0/1', '128.0.0.0/1', '::/0'], outboundTag: round % 2 === 0 ? 'way' : 'direct' },
        { domain: ['regexp:.*'], ...(round % 4 === 0 ? { balancerTag: 'pool' } : { outboundTag: 'way' }) },
      ].slice(0, 1 + (round % 4)),
      balancers: [{ tag: 'pool', selector: [round % 2 === 0 ? 'direct' : 'way'] }],
    },
  };
}

/** Those that are not saved; the others lead to no private target. */
export const REFUSED: ReadonlySet<string> = new Set([
  "a balancer of the panel's outbounds",
  "a balancer of beginnings of the panel's tags",
  'two selectors under one key',
  "a loopback as the panel's DNS",
  "a freedom through the panel's DNS",
  "a dialer through the panel's DNS",
  'a freedom with another target strategy',
  'hosts in brackets',
  'hosts in brackets, IPv6',
  'hosts with blanks',
  'hosts in another case',
  'hosts of the system',
  'hosts for a pattern',
  'two lists under one key of a name server',
  'a redirection without a port',
  'a redirection in another notation',
  "a reverse proxy with the panel's tag",
  "a bridge with the panel's tag",
  'a DNS outbound without a port',
]);
