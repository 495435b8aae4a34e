import type { Account, ClientIdentity, EntryTemplate, Inbound, Protocol } from '../../inbounds/contract.js';
import { baseEntry } from '../../inbounds/entry/base.js';
import { vless } from '../../inbounds/protocols/vless.js';
import { FRESH } from '../../inbounds/schema.js';
import { type HostFields, hostRecord } from '../../hosts/fields.js';
import { entryFor } from '../../hosts/way.js';
import { placeFor } from '../../subscription/address.js';
import { encodeFragment } from '../../subscription/contract.js';
import { compileLink } from '../link.js';

export const U = '11111111-2222-4333-8444-555555555555';
export const user: ClientIdentity = {
  id: 1,
  email: 'user',
  subId: '',
  uuid: U,
  password: 'pw',
  auth: 'hyauth',
  flow: '',
  security: 'auto',
  adTag: '',
};
export const NONE = { decryption: 'none', encryption: 'none' };

export function inboundOf(
  of: Protocol,
  at: string,
  stream: object,
  settings: object = of === vless ? NONE : {},
) {
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
  return of.entry(inbound, baseEntry(inbound));
}
export type Host = Partial<HostFields> & { readonly address: string };
export const through = (entry: EntryTemplate, { address, ...fields }: Host): EntryTemplate =>
  entryFor(entry, {
    groupId: '',
    fields: hostRecord.create(fields) as HostFields,
    address,
    port: fields.port ?? 0,
  });

export function linkOf(entry: EntryTemplate, name: string, client: Partial<ClientIdentity> = {}): string {
  const tail = entry.description && `?serverDescription=${Buffer.from(entry.description).toString('base64')}`;
  const shown = name + (tail ?? '');
  return compileLink(entry)({
    client: { ...user, ...client },
    ...placeFor(entry)('h'),
    name,
    fragment: shown && `#${encodeFragment(shown)}`,
  });
}

export const tls = (serverName: string, settings: object = {}, alpn?: readonly string[]) => ({
  security: 'tls',
  tlsSettings: { serverName, ...(alpn && { alpn }), settings },
});
export const reality = (serverName: string, shortId: string, settings: object) => ({
  network: 'tcp',
  security: 'reality',
  realitySettings: {
    serverNames: [serverName],
    shortIds: [shortId],
    settings: { publicKey: 'PBK', fingerprint: 'chrome', spiderX: '/', ...settings },
  },
});
export const CHROME = { fingerprint: 'chrome' };
export const AT = '203.0.113.1:443';
export const char = { network: 'tcp', ...tls('base.sni', CHROME, ['h2']) };
export const plainTls = { network: 'tcp', ...tls('base.sni', CHROME) };
export const entry = (account: Account, more: Partial<EntryTemplate> = {}): EntryTemplate => ({
  server: '203.0.113.1',
  port: 443,
  account,
  transport: { kind: 'tcp' },
  security: { kind: 'none' },
  ...more,
});
export const VLESS = { protocol: 'vless', id: U, flow: '', encryption: 'none' } as const;
export const fixture = '8c14d6f7-2e3b-4a91-9d24-3f7a6b8c1e02';
export const wsFixture = (pins?: readonly string[]) =>
  inboundOf(vless, 'example.test:443', {
    network: 'ws',
    wsSettings: { path: '/ws', host: 'cdn.example.test' },
    ...tls('cdn.example.test', { ...CHROME, ...(pins && { pinnedPeerCertSha256: pins }) }, [
      'h2',
      'http/1.1',
    ]),
  });
export const uid = (protocol: 'vless' | 'vmess'): Account =>
  protocol === 'vless' ? { ...VLESS, id: 'uid' } : { protocol, id: 'uid', security: 'auto' };
export const WG = {
  protocol: 'wireguard',
  privateKey: 'QGVlb2dXc1ZTWGw0ZXBzZndsWmtMaUM5MUlNYjBHWFdYbz0=',
  publicKey: 'Piehk2n8UewhMHMyJiBS+Sxn/OK0FalyFW1GAGzokHM=',
  address: ['10.0.0.2/32', 'fd00::2/128'],
  preSharedKey: 'psk=',
  keepAlive: 25,
  mtu: 1420,
  dns: '1.1.1.1, 8.8.8.8',
};
export const own = { transport: { kind: 'own' } } as const;
export const AWG = {
  protocol: 'amneziawg',
  privateKey: 'cPriv=',
  publicKey: 'sPub=',
  address: ['10.8.1.2/32'],
  preSharedKey: '',
  keepAlive: 25,
  mtu: 1420,
  dns: '8.8.8.8',
  ...{ jc: 4, jmin: 40, jmax: 100, s1: 30, s2: 90 },
};
export const wsBase = inboundOf(
  vless,
  AT,
  { network: 'ws', wsSettings: { path: '/base', host: 'base.host' }, ...tls('base.sni') },
  NONE,
);
export const xhttp = {
  network: 'xhttp',
  xhttpSettings: { path: '/x', host: 'x.example.com', mode: 'auto', xPaddingBytes: '100-1000' },
};
export const ss22 = { method: '2022-blake3-aes-256-gcm' };
export const ssAccount = {
  protocol: 'shadowsocks',
  ...ss22,
  serverKey: 'inboundpw',
  password: 'clientpw',
} as const;
export const hy = (stream: object) => ({ network: 'hysteria', ...stream });
export const numbered = (n: string) => ({ uuid: `11111111-2222-4333-8444-00000000${n}` });
