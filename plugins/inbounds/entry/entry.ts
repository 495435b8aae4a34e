// What a client program must know to reach an inbound, independent of formats. Protocols
// make entries, hosts and nodes change them, formats write them down.
import type { Credentials } from '../credential.js';
import type { FinalMask } from './masks.js';
import type { Reality, Security } from './security.js';
import type { Transport } from './transport.js';

/** Credentials of a client. Each protocol has its own kind; a plugin that adds a protocol declares the fields of its kind, and reads them in its renderers. */
export type Account = {
  readonly protocol: string;
  readonly [field: string]: AccountValue | undefined;
};
export type AccountValue = string | number | boolean | readonly string[];

/** Source: xtls.github.io, VLESS outbound; XTLS/Xray-core discussion 716. */
export type VlessAccount = {
  readonly protocol: 'vless';
  /** a UUID */
  readonly id: string;
  /** `xtls-rprx-vision`, or empty */
  readonly flow: string;
  /** `none`, or the client's half of VLESS's own encryption (XTLS/Xray-core pull request 5067) */
  readonly encryption: string;
};
/** Source: xtls.github.io, VMess outbound; 2dust/v2rayN, "Description of VMess share link". */
export type VmessAccount = {
  readonly protocol: 'vmess';
  /** a UUID */
  readonly id: string;
  /** the cipher: `auto`, `aes-128-gcm`, `chacha20-poly1305`, `none`, `zero` */
  readonly security: string;
};
/** Source: xtls.github.io, Trojan outbound; trojan-gfw.github.io. */
export type TrojanAccount = {
  readonly protocol: 'trojan';
  readonly password: string;
};
/** Source: SIP002 and SIP022 (shadowsocks.org). */
export type ShadowsocksAccount = {
  readonly protocol: 'shadowsocks';
  readonly method: string;
  /** with a method of 2022: the server's key, base64 */
  readonly serverKey?: string;
  /** with a method of 2022: the client's key, base64 */
  readonly password: string;
};
/** Hysteria 2. Source: v2.hysteria.network, URI scheme. */
export type HysteriaAccount = {
  readonly protocol: 'hysteria';
  readonly auth: string;
};
/** Source: github.com/tuic-protocol/tuic, tuic-client; mihomo, wiki.metacubex.one, TUIC. */
export type TuicAccount = {
  readonly protocol: 'tuic';
  readonly uuid: string;
  readonly password: string;
  /** `bbr`, `cubic`, `new_reno` */
  readonly congestionControl: string;
  /** `native` or `quic`; without it the client program chooses */
  readonly udpRelayMode?: string;
};
/** HTTP (RFC 9110, 7617), and SOCKS 5 (RFC 1928, 1929) with HTTP on one port. */
export type LoginAccount = {
  readonly protocol: 'http' | 'mixed';
  readonly user: string;
  readonly password: string;
};
/** Source: core.telegram.org/api/links, MTProxy links. */
export type MtprotoAccount = {
  readonly protocol: 'mtproto';
  /** `ee`, 16 bytes and the name of a site, in hexadecimal */
  readonly secret: string;
};
/** Source: wireguard.com; xtls.github.io, WireGuard outbound. */
export type WireguardAccount = {
  readonly protocol: 'wireguard';
  /** of the client, base64; empty when only the client knows it */
  readonly privateKey: string;
  /** of the server, base64 */
  readonly publicKey: string;
  /** addresses of the client with the lengths of their prefixes */
  readonly address: readonly string[];
  /** base64; empty for none */
  readonly preSharedKey: string;
  /** seconds; 0 for none */
  readonly keepAlive: number;
  /** 0: the client program chooses */
  readonly mtu: number;
  /** as the admin wrote it: addresses with commas between them; empty for none */
  readonly dns: string;
};
/** The kinds that formats of this tree know. */
export type KnownAccount =
  | VlessAccount
  | VmessAccount
  | TrojanAccount
  | ShadowsocksAccount
  | LoginAccount
  | HysteriaAccount
  | TuicAccount
  | MtprotoAccount
  | WireguardAccount;

/** Several connections in one. Source: xtls.github.io, MuxObject (Mux.Cool and XUDP); the multiplexing of sing-box and mihomo is another one, which the core does not speak. */
export interface Mux {
  /** connections in one, 1 to 128; negative: none for TCP */
  readonly concurrency: number;
  /** the same for UDP; 0: as TCP */
  readonly xudpConcurrency?: number;
  readonly xudpProxyUDP443?: 'reject' | 'allow' | 'skip';
}

/** What the client's side asks of its operating system. Source: xtls.github.io, SockoptObject. */
export interface SocketOptions {
  readonly tcpFastOpen?: boolean;
  readonly tcpMptcp?: boolean;
  readonly tcpNoDelay?: boolean;
  /** seconds */
  readonly tcpKeepAliveIdle?: number;
  /** seconds */
  readonly tcpKeepAliveInterval?: number;
  /** milliseconds */
  readonly tcpUserTimeout?: number;
  /** bytes */
  readonly tcpMaxSeg?: number;
  readonly tcpCongestion?: string;
  readonly mark?: number;
  readonly interface?: string;
  /** such as `UseIP` */
  readonly domainStrategy?: string;
  /** tag of the outbound through which this one dials */
  readonly dialerProxy?: string;
  /** bytes */
  readonly tcpWindowClamp?: number;
  /** such as `SrvPortOnly`: where in DNS the address or the port stands */
  readonly addressPortStrategy?: string;
  readonly happyEyeballs?: HappyEyeballs;
}
/** Several addresses of a server tried at once (RFC 8305). Source: xtls.github.io, HappyEyeballsObject. */
export interface HappyEyeballs {
  /** milliseconds between attempts; 0: off */
  readonly tryDelayMs?: number;
  readonly prioritizeIPv6?: boolean;
  readonly interleave?: number;
  readonly maxConcurrentTry?: number;
}

/** The addresses of the server that a client uses. Source: mihomo, wiki.metacubex.one, `ip-version`. */
export type IpVersion = 'dual' | 'ipv4' | 'ipv6' | 'ipv4-prefer' | 'ipv6-prefer';

/** One way of one client to one inbound. */
export interface ProxyEntry<A extends Account = Account> {
  /** under which programs show it */
  readonly name: string;
  /** host name or IP address, IPv6 without brackets */
  readonly server: string;
  readonly port: number;
  readonly account: A;
  readonly transport: Transport;
  readonly security: Security;
  /** 0 to 65535, for VLESS: stands in bytes 7 and 8 of the UUID, where the core's routing reads it. Source: xtls.github.io, RuleObject, `vlessRoute`. */
  readonly vlessRoute?: number;
  readonly mux?: Mux;
  readonly finalMask?: FinalMask;
  readonly socket?: SocketOptions;
  readonly ipVersion?: IpVersion;
  /** a line that some programs show below the name */
  readonly description?: string;
}

/** The fields of a client that a protocol may use. */
export interface ClientIdentity {
  /** With the inbound's id it makes `userName` of the engine, the user's name in the core. */
  readonly id: number;
  readonly email: string;
  readonly subId: string;
  readonly uuid: string;
  readonly password: string;
  /** of Hysteria */
  readonly auth: string;
  readonly flow: string;
  /** the cipher of VMess */
  readonly security: string;
  /** the channel that Telegram shows to users of an MTProto proxy; blank for none */
  readonly adTag: string;
  /** what the protocols of its inbounds made for it, by inbound (`credential` of a protocol); most clients have none */
  readonly credentials?: Credentials | null;
  /** `{ tag }`: its program may open a reverse tunnel, which becomes this outbound of the core; null for none */
  readonly reverse?: Readonly<Record<string, unknown>> | null;
}

/** The same for all clients, or a function of the client. */
export type ByClient<T> = T | ((client: ClientIdentity) => T);
/** Every field but the kind may be a function of the client. */
export type FieldsByClient<T> = {
  readonly [K in keyof T]: K extends 'kind' | 'protocol' ? T[K] : ByClient<T[K]>;
};

/**
 * An entry as it is for all clients of an inbound: values that differ from client to client are functions of the client,
 * so that a format can write everything else once. It has no name yet, and no `server` ('') where the server is the host
 * under which a subscription is fetched.
 */
export interface EntryTemplate<A extends Account = Account>
  extends Omit<ProxyEntry, 'name' | 'account' | 'security'> {
  readonly account: FieldsByClient<A>;
  readonly security: Exclude<Security, Reality> | FieldsByClient<Reality>;
}

/** Narrows an entry, complete or not, to one of the kinds that are known here: `isOf(entry, 'vless') && entry.account.flow`. */
export function isOf<P extends KnownAccount['protocol']>(
  entry: ProxyEntry,
  protocol: P,
): entry is ProxyEntry<Extract<KnownAccount, { readonly protocol: P }>>;
export function isOf<P extends KnownAccount['protocol']>(
  entry: EntryTemplate,
  protocol: P,
): entry is EntryTemplate<Extract<KnownAccount, { readonly protocol: P }>>;
export function isOf(entry: EntryTemplate, protocol: string): boolean {
  return entry.account.protocol === protocol;
}
