// What the core of today would refuse or could not do: one such document makes a client program show an error instead of
// a server. Sources: xtls.github.io; XTLS/Xray-core 26.3.27.
import type { EntryTemplate, FinalMask, Security, SocketOptions, Tls } from '../inbounds/contract.js';
import { pinInHex } from './security.js';

const KNOWN: readonly string[] = [
  'vless',
  'vmess',
  'trojan',
  'shadowsocks',
  'hysteria',
  'wireguard',
  'http',
  'mixed',
];
/** Their way of travelling is their own. */
const OWN: readonly string[] = ['hysteria', 'wireguard'];
const WITH_REALITY: readonly string[] = ['tcp', 'xhttp', 'grpc'];

/** Greetings that the core imitates, and the beginning of those of certain versions. */
const FINGERPRINTS: readonly string[] = [
  ...['', 'chrome', 'firefox', 'safari', 'ios', 'android', 'edge', '360', 'qq'],
  ...['random', 'randomized', 'randomizednoalpn', 'unsafe'],
];
const VERSIONED = /^hello(?:chrome|firefox|safari|ios|android|edge|360|qq|golang|randomized)/;
const WITHOUT_REALITY: readonly string[] = ['unsafe', 'hellogolang'];

const DOMAIN_STRATEGIES: readonly string[] = [
  ...['asis', 'useip', 'useipv4', 'useipv6', 'useipv4v6', 'useipv6v4'],
  ...['forceip', 'forceipv4', 'forceipv6', 'forceipv4v6', 'forceipv6v4'],
];
const PORT_STRATEGIES: readonly string[] = [
  ...['none', 'srvportonly', 'srvaddressonly', 'srvportandaddress'],
  ...['txtportonly', 'txtaddressonly', 'txtportandaddress'],
];

function fingerprintProblem(name: string): string | undefined {
  const lower = name.toLowerCase();
  return FINGERPRINTS.includes(lower) || VERSIONED.test(lower)
    ? undefined
    : `the core knows no fingerprint ${name}`;
}

function tlsProblem({
  fingerprint = '',
  pinnedPeerCertSha256: pins = [],
  allowInsecure,
}: Tls): string | undefined {
  const wrong = pins.find((pin) => pinInHex(pin) === undefined);
  if (wrong !== undefined) return `the core takes only SHA-256 as pinnedPeerCertSha256, not ${wrong}`;
  if (allowInsecure && pins.length === 0)
    return 'the core refuses allowInsecure; give the certificate as pinnedPeerCertSha256 instead';
  return fingerprintProblem(fingerprint);
}

function securityProblem(
  security: EntryTemplate['security'] | Security,
  network: string,
): string | undefined {
  if (security.kind === 'tls') return tlsProblem(security);
  if (security.kind === 'none') return undefined;
  if (!WITH_REALITY.includes(network)) return `the core speaks no REALITY over ${network}`;
  const { fingerprint } = security;
  if (typeof fingerprint === 'function') return undefined;
  return WITHOUT_REALITY.includes(fingerprint.toLowerCase())
    ? `REALITY does not go with the fingerprint ${fingerprint}`
    : fingerprintProblem(fingerprint);
}

function socketProblem({ domainStrategy = '', addressPortStrategy = '' }: SocketOptions): string | undefined {
  const isKnown = (list: readonly string[], value: string) =>
    value === '' || list.includes(value.toLowerCase());
  if (!isKnown(DOMAIN_STRATEGIES, domainStrategy))
    return `the core knows no sockopt.domainStrategy ${domainStrategy}`;
  if (!isKnown(PORT_STRATEGIES, addressPortStrategy))
    return `the core knows no sockopt.addressPortStrategy ${addressPortStrategy}`;
  return undefined;
}

const LEAST_HOP_SECONDS = 5;
const startOf = (range: number | string): number => Number.parseInt(String(range), 10);
function maskProblem({ tcp = [], udpHop }: FinalMask): string | undefined {
  for (const mask of tcp)
    if (mask.kind === 'fragment') {
      if (!(startOf(mask.length) >= 1)) return 'a mask fragment needs a length of at least 1';
      if (!/^(?:|tlshello|[1-9]\d*(?:-[1-9]\d*)?)$/i.test(mask.packets))
        return `the packets of a mask fragment are tlshello or a range such as 1-3, not ${mask.packets}`;
    }
  if (udpHop?.interval !== undefined && startOf(udpHop.interval) < LEAST_HOP_SECONDS)
    return `the core hops between ports every ${LEAST_HOP_SECONDS} seconds at most`;
  return undefined;
}

/** Why the core has no outbound for an entry; undefined when it has one. */
export function cannotWrite(entry: EntryTemplate): string | undefined {
  const { account, transport, security, socket, finalMask } = entry;
  const { protocol } = account;
  if (!KNOWN.includes(protocol)) return `the core has no outbound for ${protocol}`;
  const isOwn = transport.kind === 'own';
  if (isOwn !== OWN.includes(protocol))
    return isOwn
      ? `the core has no transport of its own for ${protocol}`
      : `${protocol} needs a transport of its own`;
  if (protocol === 'hysteria' && security.kind !== 'tls') return 'hysteria needs TLS';
  return (
    securityProblem(security, transport.kind) ??
    (transport.kind === 'xhttp' && transport.download
      ? securityProblem(transport.download.security, 'xhttp')
      : undefined) ??
    (socket && socketProblem(socket)) ??
    (finalMask && maskProblem(finalMask))
  );
}
