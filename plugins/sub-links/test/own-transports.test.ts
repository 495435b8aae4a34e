// Share links of protocols that bring their own way of travelling, character by character.
import test from 'ava';
import type { ClientIdentity, EntryTemplate, Inbound, Protocol } from '../../inbounds/contract.js';
import { baseEntry } from '../../inbounds/entry/base.js';
import { hysteria } from '../../inbounds/protocols/hysteria.js';
import { mtproto } from '../../inbounds/protocols/mtproto.js';
import { tuic } from '../../inbounds/protocols/tuic.js';
import { FRESH } from '../../inbounds/schema.js';
import { placeFor } from '../../subscription/address.js';
import { pinInHex } from '../hysteria.js';
import { compileLink } from '../link.js';

const SECRET = 'ee8196fe6ed8b637d001f91d6952cfcdf07777772e636c6f7564666c6172652e636f6d';
const user: ClientIdentity = {
  id: 1,
  email: 'user',
  subId: '',
  uuid: '11111111-1111-1111-1111-111111111111',
  password: 'testpassword',
  auth: 'hyauth',
  flow: '',
  security: 'auto',
  adTag: '',
  credentials: new Map([[1, { secret: SECRET }]]),
};

interface Case {
  readonly of: Protocol;
  readonly at: string;
  readonly settings?: object;
  readonly stream?: object;
  readonly client?: Partial<ClientIdentity>;
  readonly change?: (entry: EntryTemplate) => EntryTemplate;
  readonly name?: string;
  readonly link: string;
}
function linkOf({ of, at, settings = {}, stream = {}, client, change = (e) => e, name = '' }: Case): string {
  const colon = at.lastIndexOf(':');
  const inbound = {
    ...FRESH,
    id: 1,
    shareAddrStrategy: 'custom',
    shareAddr: at.slice(0, colon),
    port: Number(at.slice(colon + 1)),
    protocol: of.name,
    settings,
    streamSettings: stream,
  } as Inbound;
  const entry = change(of.entry(inbound, baseEntry(inbound)));
  return compileLink(entry)({
    client: { ...user, ...client },
    ...placeFor(entry)('h'),
    name,
    fragment: name && `#${encodeURIComponent(name)}`,
  });
}

const tls = (settings: object = {}) => ({
  network: 'hysteria',
  security: 'tls',
  tlsSettings: { serverName: 'hy.sni', alpn: ['h3'], settings: { fingerprint: 'chrome', ...settings } },
});
const salamander = (packetSize?: string) => ({
  udp: [{ type: 'salamander', settings: { password: 'obfs-secret', ...(packetSize && { packetSize }) } }],
});
const HY = { of: hysteria, at: '203.0.113.1:443' };
const PLAIN = 'hysteria2://hyauth@203.0.113.1:443?alpn=h3&fp=chrome&';
const CASES: Record<string, Case> = {
  'hysteria with TLS': {
    of: hysteria,
    at: 'example.test:36715',
    stream: tls(),
    client: { auth: 'hyst v1/XYZ@' },
    name: 'gina',
    link: 'hysteria2://hyst%20v1%2FXYZ%40@example.test:36715?alpn=h3&fp=chrome&security=tls&sni=hy.sni#gina',
  },
  'hysteria with a mask and hopping ports': {
    ...HY,
    stream: {
      ...tls(),
      finalmask: { ...salamander(), quicParams: { udpHop: { ports: ' 20000-50000 ', interval: '5-10' } } },
    },
    name: 'hy2-user',
    link: `${PLAIN}mport=20000-50000&obfs=salamander&obfs-password=obfs-secret&security=tls&sni=hy.sni#hy2-user`,
  },
  'hysteria with a mask that changes packet sizes': {
    ...HY,
    stream: { ...tls(), finalmask: salamander('512-1200') },
    link: `${PLAIN}maxPacketSize=1200&minPacketSize=512&obfs=gecko&obfs-password=obfs-secret&security=tls&sni=hy.sni`,
  },
  ...Object.fromEntries(
    ['0-1200', '1200-512', '512-4096', ' 512 - 1200 ', '+512-1200'].map((range) => [
      `hysteria with the range ${range}, which is none`,
      {
        ...HY,
        stream: { ...tls(), finalmask: salamander(range) },
        link: `${PLAIN}obfs=salamander&obfs-password=obfs-secret&security=tls&sni=hy.sni`,
      },
    ]),
  ),
  'hysteria with pins, names and ECH, through a host that takes any certificate': {
    ...HY,
    stream: tls({
      pinnedPeerCertSha256: [`${'A'.repeat(43)}=`, 'C8:47'],
      verifyPeerCertByName: ' cert.example.com ',
      echConfigList: 'AAAA',
    }),
    change: (entry) => ({
      ...entry,
      security: { ...(entry.security as { kind: 'tls' }), allowInsecure: true },
    }),
    link: `hysteria2://hyauth@203.0.113.1:443?alpn=h3&ech=AAAA&fp=chrome&insecure=1&pinSHA256=${'0'.repeat(64)}%2CC8%3A47&security=tls&sni=hy.sni&vcn=cert.example.com`,
  },
  'tuic with its defaults': {
    of: tuic,
    at: '198.51.100.1:8443',
    settings: { server: {} },
    name: 'tuic-test-user@test',
    link: 'tuic://11111111-1111-1111-1111-111111111111:testpassword@198.51.100.1:8443?allow_insecure=0&congestion_control=bbr#tuic-test-user%40test',
  },
  'tuic with all that a client must know': {
    of: tuic,
    at: '[2001:db8::1]:8443',
    settings: {
      server: {
        congestion_control: 'cubic',
        alpn: ['h3', 'spdy/3.1'],
        sni: 'tuic.example.com',
        udp_relay_mode: 'quic',
        private_key: 'never',
      },
    },
    client: { password: 'p:w@' },
    link: 'tuic://11111111-1111-1111-1111-111111111111:p%3Aw%40@[2001:db8::1]:8443?allow_insecure=0&alpn=h3%2Cspdy%2F3.1&congestion_control=cubic&sni=tuic.example.com&udp_relay_mode=quic',
  },
  'mtproto has no name': {
    of: mtproto,
    at: '203.0.113.7:8443',
    name: 'no place for it',
    link: `tg://proxy?port=8443&secret=${SECRET}&server=203.0.113.7`,
  },
  'mtproto at an IPv6 address': {
    of: mtproto,
    at: '[2001:db8::1]:443',
    link: `tg://proxy?port=443&secret=${SECRET}&server=2001%3Adb8%3A%3A1`,
  },
};
for (const [name, the] of Object.entries(CASES)) test(`link: ${name}`, (t) => t.is(linkOf(the), the.link));

test('pins become lower-case hexadecimal, in whatever way they are written', (t) => {
  const hex = 'c847dd2395d0978c0780b8201c4b289a8b281597d47c275f2d77d3f96d8de9c4';
  for (const pin of [
    'yEfdI5XQl4wHgLggHEsomosoFZfUfCdfLXfT+W2N6cQ=',
    'yEfdI5XQl4wHgLggHEsomosoFZfUfCdfLXfT-W2N6cQ=',
    'yEfdI5XQl4wHgLggHEsomosoFZfUfCdfLXfT-W2N6cQ',
    hex.toUpperCase(),
    ` ${hex} `,
    hex.match(/../g)?.join(':') ?? '',
  ])
    t.is(pinInHex(pin), hex, pin);
  for (const pin of ['not-a-pin', '', 'C8:47', `${hex}00`]) t.is(pinInHex(pin), pin);
});
