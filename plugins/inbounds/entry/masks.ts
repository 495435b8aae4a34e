// Masks change the bytes below TLS. Source: xtls.github.io, FinalMaskObject.
import type { NumberRange } from './transport.js';

/** Cuts the first bytes into pieces. Only the client's side does it. */
export interface FragmentMask {
  readonly kind: 'fragment';
  /** `tlshello`, or a range of writes such as `1-3` */
  readonly packets: string;
  /** bytes of a piece */
  readonly length: NumberRange;
  /** milliseconds between pieces */
  readonly delay?: NumberRange;
  readonly maxSplit?: NumberRange;
}
/** Makes the bytes look like text or noise, with the same password on both sides. */
export interface SudokuMask {
  readonly kind: 'sudoku';
  readonly password?: string;
  /** such as `prefer_entropy` or `prefer_ascii` */
  readonly ascii?: string;
  readonly customTables?: readonly string[];
  readonly paddingMin?: number;
  readonly paddingMax?: number;
}
/** Scrambles UDP packets with a password (the obfuscation of Hysteria 2). */
export interface SalamanderMask {
  readonly kind: 'salamander';
  readonly password: string;
  /** bytes, as `from-to` */
  readonly packetSize?: string;
}
/** Header and scrambling of older mKCP. */
export interface LegacyKcpMask {
  readonly kind: 'mkcp-legacy';
  /** empty: `value` is a seed */
  readonly header: string;
  readonly value?: string;
}
/** A header before each packet, as that of another protocol. */
export interface HeaderMask {
  readonly kind: `header-${'dns' | 'dtls' | 'srtp' | 'utp' | 'wechat' | 'wireguard'}`;
  /** for `header-dns` */
  readonly domain?: string;
}
/** Scrambling of mKCP: with a fixed key, or with a password. */
export interface KcpScramblingMask {
  readonly kind: 'mkcp-original' | 'mkcp-aes128gcm';
  readonly password?: string;
}

/** The first mask is the innermost. */
export interface FinalMask {
  readonly tcp?: readonly (FragmentMask | SudokuMask)[];
  readonly udp?: readonly (SalamanderMask | LegacyKcpMask | HeaderMask | KcpScramblingMask | SudokuMask)[];
  /** UDP ports that the client changes between, such as `20000-50000`, and how often in seconds. Source: xtls.github.io, `quicParams.udpHop`; v2.hysteria.network, port hopping. */
  readonly udpHop?: { readonly ports: string; readonly interval?: NumberRange };
}
