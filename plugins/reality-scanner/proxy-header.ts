// The header of the PROXY protocol, which a server behind `xver` of REALITY expects before the handshake.
// https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.1 and 2.2.
import { isIPv6, type Socket } from 'node:net';
import { canonicalAddress, ipv6Groups } from '../../kernel/index.js';

/** 0 is no header. */
export type HeaderVersion = 0 | 1 | 2;

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const PROXY_COMMAND = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

const bytesOf = (address: string): number[] =>
  isIPv6(address)
    ? ipv6Groups(address).flatMap((group) => [group >> 8, group & 255])
    : address.split('.').map(Number);
const portOf = (port: number): number[] => [port >> 8, port & 255];

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Returns the header for a connection of this machine: its own ends are source and destination. */
export function proxyHeader(
  { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 }: Ends,
  version: 1 | 2,
): Buffer {
  const [from, to] = [canonicalAddress(localAddress) ?? '', canonicalAddress(remoteAddress) ?? ''];
  const is6 = isIPv6(from);
  if (version === 1)
    return Buffer.from(`PROXY ${is6 ? 'TCP6' : 'TCP4'} ${from} ${to} ${localPort} ${remotePort}\r\n`);
  const ends = [...bytesOf(from), ...bytesOf(to), ...portOf(localPort), ...portOf(remotePort)];
  return Buffer.concat([
    SIGNATURE,
    Buffer.from([PROXY_COMMAND, is6 ? TCP_OVER_IPV6 : TCP_OVER_IPV4, 0, ends.length, ...ends]),
  ]);
}
