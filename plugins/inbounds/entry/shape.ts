// Schemas of entries that plugins make: strict, so that formats need no checks of their own.
import Joi from 'joi';
import { custom } from '../../../kernel/index.js';
import type { EntryTemplate, IpVersion, KnownAccount, Mux, SocketOptions } from './entry.js';
import { isOurs } from './functions.js';
import type { FinalMask } from './masks.js';
import type { XhttpMode } from './transport.js';

const LONGEST = 10_000;
/** ECH configs, VLESS's own encryption and keys of ML-DSA are long. */
const LONGEST_KEY = 100_000;
const MOST = 1000;

const line = (longest = LONGEST) =>
  Joi.string()
    .allow('')
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const maybe = (schema: Joi.Schema) => schema.optional();
const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => Joi.number().integer().min(least).max(most);
const flag = () => maybe(Joi.boolean());
const texts = () => Joi.array().items(line()).max(MOST);
const range = () =>
  Joi.alternatives(
    whole(-Number.MAX_SAFE_INTEGER),
    Joi.string().pattern(/^-?\d+(?:-\d+)?$/, 'number or from-to'),
  );
const headers = (value: Joi.Schema) => maybe(Joi.object().pattern(line(256), value).max(100));
const kind = (name: string, fields: Joi.SchemaMap) => Joi.object({ kind: Joi.valid(name), ...fields });
/** One of several shapes, told apart by a field. */
const byField = (field: string, shapes: Readonly<Record<string, Joi.Schema>>, otherwise?: Joi.Schema) =>
  Joi.alternatives().conditional(Joi.ref(`.${field}`), {
    switch: Object.entries(shapes).map(([is, then]) => ({ is, then })),
    otherwise:
      otherwise ??
      Joi.any().custom((_value, state) =>
        state.error('any.custom', {
          error: new Error(`its ${field} must be one of ${Object.keys(shapes).join(', ')}`),
        }),
      ),
  });

const http = { path: line(), host: line(), headers: headers(line()) };
const MODES: readonly XhttpMode[] = ['', 'auto', 'packet-up', 'stream-up', 'stream-one'];
const xhttp = {
  ...http,
  mode: maybe(Joi.valid(...MODES)),
  ...Object.fromEntries(['xPaddingObfsMode', 'noGRPCHeader'].map((name) => [name, flag()])),
  ...Object.fromEntries(
    [
      ...['xPaddingKey', 'xPaddingHeader', 'xPaddingPlacement', 'xPaddingMethod', 'uplinkHTTPMethod'],
      ...['sessionIDPlacement', 'sessionIDKey', 'sessionIDTable', 'sessionIDLength', 'seqPlacement'],
      ...['seqKey', 'uplinkDataPlacement', 'uplinkDataKey'],
    ].map((name) => [name, maybe(line())]),
  ),
  ...Object.fromEntries(
    ['xPaddingBytes', 'uplinkChunkSize', 'scMaxEachPostBytes', 'scMinPostsIntervalMs'].map((name) => [
      name,
      maybe(range()),
    ]),
  ),
  xmux: maybe(
    Joi.object({
      maxConcurrency: maybe(range()),
      maxConnections: maybe(range()),
      cMaxReuseTimes: maybe(range()),
      hMaxRequestTimes: maybe(range()),
      hMaxReusableSecs: maybe(range()),
      hKeepAlivePeriod: maybe(whole(-1)),
    }),
  ),
};

const tls = kind('tls', {
  serverName: maybe(line()),
  alpn: maybe(texts()),
  fingerprint: maybe(line()),
  echConfigList: maybe(line(LONGEST_KEY)),
  verifyPeerCertByName: maybe(line()),
  pinnedPeerCertSha256: maybe(texts()),
  cipherSuites: maybe(line()),
  allowInsecure: flag(),
});
const reality = (value: (text: Joi.Schema) => Joi.Schema) =>
  kind('reality', {
    serverName: value(line()),
    shortId: value(Joi.string().allow('').hex().max(16)),
    publicKey: value(line()),
    fingerprint: value(line()),
    spiderX: value(line()),
    mldsa65Verify: maybe(value(line(LONGEST_KEY))),
    x25519mlkem768: flag(),
  });
const security = (value: (text: Joi.Schema) => Joi.Schema) =>
  byField('kind', { none: kind('none', {}), tls, reality: reality(value) });

const transport = byField('kind', {
  tcp: kind('tcp', {
    http: maybe(
      Joi.object({ host: line(), paths: texts(), method: maybe(line(32)), headers: headers(texts()) }),
    ),
  }),
  ws: kind('ws', http),
  httpupgrade: kind('httpupgrade', http),
  grpc: kind('grpc', { serviceName: line(), authority: line(), multiMode: Joi.boolean() }),
  xhttp: kind('xhttp', {
    ...xhttp,
    download: maybe(
      Joi.object({
        server: line(255),
        port: whole(1, 65_535),
        transport: kind('xhttp', xhttp),
        security: security((text) => text),
      }),
    ),
  }),
  kcp: kind('kcp', {
    header: line(64),
    seed: maybe(line()),
    mtu: maybe(whole(1)),
    tti: maybe(whole(1)),
  }),
  own: kind('own', {}),
});

const sudoku = kind('sudoku', {
  password: maybe(line()),
  ascii: maybe(line(64)),
  customTables: maybe(texts()),
  paddingMin: maybe(whole(0)),
  paddingMax: maybe(whole(0)),
});
const fragment = kind('fragment', {
  packets: line(64),
  length: range(),
  delay: maybe(range()),
  maxSplit: maybe(range()),
});
const salamander = kind('salamander', { password: line(), packetSize: maybe(line(64)) });
const legacyKcp = kind('mkcp-legacy', { header: line(64), value: maybe(line()) });
const masks = (shapes: Readonly<Record<string, Joi.Schema>>) =>
  maybe(Joi.array().items(byField('kind', shapes)).max(100));
const finalMask = Joi.object({
  tcp: masks({ fragment, sudoku }),
  udp: masks({
    salamander,
    'mkcp-legacy': legacyKcp,
    'header-dns': kind('header-dns', { domain: maybe(line(255)) }),
    ...Object.fromEntries(
      ['dtls', 'srtp', 'utp', 'wechat', 'wireguard'].map((name) => [
        `header-${name}`,
        kind(`header-${name}`, {}),
      ]),
    ),
    'mkcp-original': kind('mkcp-original', {}),
    'mkcp-aes128gcm': kind('mkcp-aes128gcm', { password: maybe(line()) }),
    sudoku,
  }),
  udpHop: maybe(Joi.object({ ports: line(), interval: maybe(range()) })),
});

const socket = Joi.object({
  tcpFastOpen: flag(),
  tcpMptcp: flag(),
  tcpNoDelay: flag(),
  tcpKeepAliveIdle: maybe(whole(-1)),
  tcpKeepAliveInterval: maybe(whole(-1)),
  tcpUserTimeout: maybe(whole(0)),
  tcpMaxSeg: maybe(whole(0)),
  tcpCongestion: maybe(line(64)),
  mark: maybe(whole(0)),
  interface: maybe(line(64)),
  domainStrategy: maybe(line(64)),
  dialerProxy: maybe(line(128)),
  tcpWindowClamp: maybe(whole(0)),
  addressPortStrategy: maybe(line(64)),
  happyEyeballs: maybe(
    Joi.object({
      tryDelayMs: maybe(whole(0)),
      prioritizeIPv6: flag(),
      interleave: maybe(whole(0)),
      maxConcurrentTry: maybe(whole(0)),
    }),
  ),
});
const XUDP: readonly NonNullable<Mux['xudpProxyUDP443']>[] = ['reject', 'allow', 'skip'];
const mux = Joi.object({
  concurrency: whole(-1, 1024),
  xudpConcurrency: maybe(whole(-1, 1024)),
  xudpProxyUDP443: maybe(Joi.valid(...XUDP)),
});
const IP_VERSIONS: readonly IpVersion[] = ['dual', 'ipv4', 'ipv6', 'ipv4-prefer', 'ipv6-prefer'];

/** Fields of the accounts that are known, beside `protocol`. */
const FIELDS: {
  readonly [P in KnownAccount['protocol']]: readonly [
    name: string,
    mayMiss?: 'mayMiss' | '',
    /** of a value that is not a text */
    shape?: Joi.Schema,
  ][];
} = {
  vless: [['id'], ['flow'], ['encryption']],
  vmess: [['id'], ['security']],
  trojan: [['password']],
  http: [['user'], ['password']],
  mixed: [['user'], ['password']],
  shadowsocks: [['method'], ['serverKey', 'mayMiss'], ['password']],
  hysteria: [['auth']],
  mtproto: [['secret']],
  tuic: [['uuid'], ['password'], ['congestionControl'], ['udpRelayMode', 'mayMiss']],
  wireguard: [
    ['privateKey'],
    ['publicKey'],
    ['address', '', texts()],
    ['preSharedKey'],
    ['keepAlive', '', whole(0, 65_535)],
    ['mtu', '', whole(0, 65_535)],
    ['dns'],
  ],
};
/** A value of an account, of a kind that is not known here. */
export const AccountValueShape = Joi.alternatives(line(LONGEST_KEY), Joi.number(), Joi.boolean(), texts());
/** One of an account that is known. */
export const AccountTextShape = line(LONGEST_KEY);
/** Whether all values of these accounts are texts. */
export const hasTexts = (protocol: string): boolean =>
  Object.entries(FIELDS).some(
    ([name, fields]) => name === protocol && fields.every(([, , shape]) => shape === undefined),
  );

const isFunction = Joi.any().custom((value: unknown) => {
  if (typeof value !== 'function') throw new Error('it must be a function');
  return value;
});

function templateShape(isAllowed: (value: unknown) => boolean) {
  const then = Joi.any().custom((value: unknown, state) =>
    isAllowed(value)
      ? value
      : state.error('any.custom', {
          error: new Error('a function here must be one of the entry that was given'),
        }),
  );
  const byClient = (schema: Joi.Schema) => Joi.any().when(isFunction, { then, otherwise: schema });
  const account = byField(
    'protocol',
    Object.fromEntries(
      Object.entries(FIELDS).map(([protocol, fields]) => [
        protocol,
        Joi.object({
          protocol: Joi.valid(protocol),
          ...Object.fromEntries(
            fields.map(([name, mayMiss, shape = AccountTextShape]) => [
              name,
              mayMiss ? maybe(byClient(shape)) : byClient(shape),
            ]),
          ),
        }),
      ]),
    ),
    Joi.object({ protocol: Joi.string().max(64) }).pattern(Joi.string().max(64), byClient(AccountValueShape)),
  );
  return custom<EntryTemplate>(
    Joi.object({
      server: Joi.string()
        .allow('')
        .max(255)
        .pattern(/^[^\s\p{Cc}\p{Cs}/@#?"'<>[\]]*$/u, 'host name or address, IPv6 without brackets'),
      port: whole(1, 65_535),
      account,
      transport,
      security: security(byClient),
      vlessRoute: maybe(whole(0, 65_535)),
      mux: maybe(mux),
      finalMask: maybe(finalMask),
      socket: maybe(socket),
      ipVersion: maybe(Joi.valid(...IP_VERSIONS)),
      description: maybe(line(64)),
    }),
  );
}

/** Parts of an entry that hosts bring along. */
export const MuxShape = custom<Mux>(mux);
export const SocketShape = custom<SocketOptions>(socket);
export const FinalMaskShape = custom<FinalMask>(finalMask);

/** An entry that a protocol makes: its functions are its own. */
export const ProtocolEntryShape = templateShape((value) => typeof value === 'function');
/** An entry that another plugin changed, for drafts and filters: its only functions are those of the protocol. */
export const EntryTemplateShape = templateShape(isOurs);
