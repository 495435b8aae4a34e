// Outbounds of a config of the core from elsewhere. Only words that say how to reach a server are taken: others would name
// files of this machine, its interfaces, or outbounds and inbounds that are not the list's.
import type { Json, JsonObject } from '../engine/contract.js';
import { ListProblem } from './list-problem.js';

/** true: any value without control characters. */
type Rule = true | { readonly [key: string]: Rule };

const keys = (...names: readonly string[]): Record<string, Rule> =>
  Object.fromEntries(names.map((name) => [name, true]));

const user = keys(
  ...['id', 'flow', 'encryption', 'security', 'user', 'pass', 'password', 'email', 'alterId'],
);
const server = {
  ...keys('address', 'port', 'method', 'password', 'uot', 'UoTVersion', 'ota', 'email', 'flow'),
  users: user,
};
const SETTINGS: Rule = {
  ...server,
  ...user,
  ...keys('version', 'secretKey', 'mtu', 'reserved', 'noKernelTun', 'domainStrategy', 'workers'),
  vnext: server,
  servers: server,
  peers: keys('endpoint', 'publicKey', 'preSharedKey', 'keepAlive', 'allowedIPs'),
  ...{ address: true },
};
const TLS: Rule = keys(
  ...['serverName', 'alpn', 'fingerprint', 'echConfigList', 'verifyPeerCertByName', 'pinnedPeerCertSha256'],
  ...['cipherSuites', 'minVersion', 'maxVersion', 'curvePreferences', 'enableSessionResumption'],
  ...['rejectUnknownSni', 'allowInsecure', 'disableSystemRoot', 'show'],
);
const REALITY: Rule = keys(
  ...['show', 'publicKey', 'password', 'fingerprint', 'serverName', 'shortId', 'spiderX', 'mldsa65Verify'],
);
const SOCKET: Rule = keys(
  ...['tcpFastOpen', 'tcpMptcp', 'tcpNoDelay', 'tcpKeepAliveIdle', 'tcpKeepAliveInterval', 'tcpUserTimeout'],
  ...[
    'tcpMaxSeg',
    'tcpCongestion',
    'domainStrategy',
    'tcpWindowClamp',
    'addressPortStrategy',
    'happyEyeballs',
  ],
);
const GRPC: Rule = keys(
  ...['serviceName', 'authority', 'multiMode', 'user_agent', 'idle_timeout', 'health_check_timeout'],
  ...['permit_without_stream', 'initial_windows_size'],
);
const XHTTP = keys(
  ...['path', 'host', 'headers', 'mode', 'xmux', 'xPaddingBytes', 'xPaddingObfsMode', 'xPaddingKey'],
  ...['xPaddingHeader', 'xPaddingPlacement', 'xPaddingMethod', 'uplinkHTTPMethod', 'sessionPlacement'],
  ...['sessionKey', 'sessionIDPlacement', 'sessionIDKey', 'sessionIDTable', 'sessionIDLength'],
  ...['seqPlacement', 'seqKey', 'uplinkDataPlacement', 'uplinkDataKey', 'uplinkChunkSize', 'noGRPCHeader'],
  ...[
    'scMaxEachPostBytes',
    'scMinPostsIntervalMs',
    'noSSEHeader',
    'scMaxBufferedPosts',
    'scStreamUpServerSecs',
  ],
);
const download: Rule = {
  ...keys('address', 'port', 'network', 'security'),
  tlsSettings: TLS,
  realitySettings: REALITY,
  xhttpSettings: XHTTP,
};
const WAY: Rule = { ...XHTTP, downloadSettings: download, extra: { ...XHTTP, downloadSettings: download } };
const HTTP: Rule = keys('path', 'host', 'headers', 'heartbeatPeriod', 'ed');
const TCP: Rule = { header: true };
const OUTBOUND: Rule = {
  protocol: true,
  settings: SETTINGS,
  mux: keys('enabled', 'concurrency', 'xudpConcurrency', 'xudpProxyUDP443'),
  streamSettings: {
    ...keys('network', 'security'),
    tlsSettings: TLS,
    realitySettings: REALITY,
    tcpSettings: TCP,
    rawSettings: TCP,
    wsSettings: HTTP,
    httpupgradeSettings: HTTP,
    grpcSettings: GRPC,
    xhttpSettings: WAY,
    splithttpSettings: WAY,
    kcpSettings: true,
    hysteriaSettings: keys('version', 'auth', 'udpIdleTimeout', 'up', 'down', 'congestion'),
    finalmask: true,
    sockopt: SOCKET,
  },
};

const PROTOCOLS = ['vless', 'vmess', 'trojan', 'shadowsocks', 'socks', 'http', 'hysteria', 'wireguard'];
const CONTROL = /[\p{Cc}\p{Cs}]/u;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** What programs write where they mean nothing. */
const saysNothing = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.values(value as object).every(saysNothing));

function checked(value: unknown, rule: Rule, path: string): Json | undefined {
  if (typeof value === 'string' && CONTROL.test(value))
    throw new ListProblem(`${path}: it contains control characters`);
  if (Array.isArray(value))
    return (value as unknown[]).flatMap((one, at) => {
      const kept = checked(one, rule, `${path}.${at}`);
      return kept === undefined ? [] : [kept];
    });
  if (!isObject(value)) return value as Json;
  const kept: [string, Json][] = [];
  for (const [key, one] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    if (CONTROL.test(key)) throw new ListProblem(`${path}: a name in it contains control characters`);
    // It belongs to the policy of the other config.
    if (rule !== true && key === 'level') continue;
    const inside = rule === true ? true : Object.hasOwn(rule, key) ? rule[key] : undefined;
    if (inside === undefined) {
      if (saysNothing(one)) continue;
      throw new ListProblem(`${here.slice(0, 128)}: this is not taken from a list`);
    }
    const below = checked(one, inside, here);
    if (below !== undefined) kept.push([key, below]);
  }
  return Object.fromEntries(kept);
}

/** Throws a ListProblem that names the place. */
export function xrayOutbound(value: Readonly<Record<string, unknown>>): JsonObject {
  const protocol = String(value['protocol'] ?? '').toLowerCase();
  if (!PROTOCOLS.includes(protocol))
    throw new ListProblem(`protocol: a list may have ${PROTOCOLS.join(', ')}, not ${protocol || 'none'}`);
  // The list's name of it is only shown.
  const { tag: _, ...words } = value;
  const outbound = checked(words, OUTBOUND, '') as JsonObject;
  return { ...outbound, protocol };
}
