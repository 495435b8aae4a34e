// How the bytes of an entry travel: one kind for each transport, with what a client's side must know of it.
import type { Security } from './security.js';

/** One number, or a range `from-to` of which one is drawn. Source: xtls.github.io, Int32Range. */
export type NumberRange = number | string;
/** By name; without `Host`, which has a field of its own. */
export type HttpHeaders = Readonly<Record<string, string>>;

/** Plain TCP, or TCP behind the pretence of an HTTP/1.1 exchange. Source: xtls.github.io, RAW transport, HttpHeaderObject. */
export interface TcpTransport {
  readonly kind: 'tcp';
  readonly http?: TcpHttpHeader;
}
export interface TcpHttpHeader {
  /** empty: the server names none */
  readonly host: string;
  /** one is drawn for each connection; empty: `/` */
  readonly paths: readonly string[];
  /** `GET` where it is not there */
  readonly method?: string;
  /** one of the values is drawn for each connection */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

/** WebSocket. `?ed=2048` at the end of the path asks for early data. Source: xtls.github.io, WebSocket transport. */
export interface WsTransport {
  readonly kind: 'ws';
  readonly path: string;
  /** of the header `Host`; empty: the client takes the server's name */
  readonly host: string;
  readonly headers?: HttpHeaders;
}
/** Source: xtls.github.io, HTTPUpgrade transport. */
export interface HttpUpgradeTransport {
  readonly kind: 'httpupgrade';
  readonly path: string;
  readonly host: string;
  readonly headers?: HttpHeaders;
}
/** Source: xtls.github.io, gRPC transport. */
export interface GrpcTransport {
  readonly kind: 'grpc';
  readonly serviceName: string;
  /** of the header `:authority`; empty: the client takes the server's name */
  readonly authority: string;
  readonly multiMode: boolean;
}

/** Modes of XHTTP; the empty one means `auto`. */
export type XhttpMode = '' | 'auto' | 'packet-up' | 'stream-up' | 'stream-one';
/** XHTTP. What only the server uses is not there. Source: XTLS/Xray-core discussion 4113; mihomo, wiki.metacubex.one, `xhttp-opts`. */
export interface XhttpTransport {
  readonly kind: 'xhttp';
  readonly path: string;
  readonly host: string;
  readonly mode?: XhttpMode;
  readonly headers?: HttpHeaders;
  readonly xPaddingBytes?: NumberRange;
  /** the padding stands where it says, under other names than the usual ones */
  readonly xPaddingObfsMode?: boolean;
  readonly xPaddingKey?: string;
  readonly xPaddingHeader?: string;
  readonly xPaddingPlacement?: string;
  readonly xPaddingMethod?: string;
  readonly uplinkHTTPMethod?: string;
  /** `sessionPlacement` in older programs, and `sessionKey` for the next one */
  readonly sessionIDPlacement?: string;
  readonly sessionIDKey?: string;
  readonly sessionIDTable?: string;
  readonly sessionIDLength?: string;
  readonly seqPlacement?: string;
  readonly seqKey?: string;
  readonly uplinkDataPlacement?: string;
  readonly uplinkDataKey?: string;
  readonly uplinkChunkSize?: NumberRange;
  /** bytes */
  readonly scMaxEachPostBytes?: NumberRange;
  /** milliseconds */
  readonly scMinPostsIntervalMs?: NumberRange;
  readonly noGRPCHeader?: boolean;
  readonly xmux?: XhttpMux;
  /** the way down, where it is another one than the way up */
  readonly download?: XhttpDownload;
}
/** How connections of XHTTP are used again. Source: XTLS/Xray-core discussion 4113, XmuxObject. */
export interface XhttpMux {
  readonly maxConcurrency?: NumberRange;
  readonly maxConnections?: NumberRange;
  readonly cMaxReuseTimes?: NumberRange;
  readonly hMaxRequestTimes?: NumberRange;
  readonly hMaxReusableSecs?: NumberRange;
  /** seconds; negative: none */
  readonly hKeepAlivePeriod?: number;
}
/** Source: XTLS/Xray-core discussion 4113, `downloadSettings`. */
export interface XhttpDownload {
  readonly server: string;
  readonly port: number;
  readonly transport: Omit<XhttpTransport, 'download'>;
  readonly security: Security;
}

/** mKCP over UDP. Source: xtls.github.io, mKCP transport. */
export interface KcpTransport {
  readonly kind: 'kcp';
  /** of the packets: `none`, `srtp`, `utp`, `wechat-video`, `dtls`, `wireguard`, `dns` */
  readonly header: string;
  readonly seed?: string;
  /** bytes */
  readonly mtu?: number;
  /** milliseconds */
  readonly tti?: number;
}
/** The protocol brings its own way of travelling (WireGuard, Hysteria, TUIC, MTProto): what there is to know of it is part of its account. */
export interface OwnTransport {
  readonly kind: 'own';
}

export type Transport =
  | TcpTransport
  | WsTransport
  | HttpUpgradeTransport
  | GrpcTransport
  | XhttpTransport
  | KcpTransport
  | OwnTransport;
