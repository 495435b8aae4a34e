// The server block of an inbound, as this plugin reads it.
import { isIPv4 } from 'node:net';
import { canonicalAddress, ipv6Groups } from '../../kernel/index.js';
import type { Inbound } from '../inbounds/contract.js';

export type ServerBlock = Readonly<Record<string, unknown>>;

export const serverOf = ({ settings }: Pick<Inbound, 'settings'>): ServerBlock => {
  const server = settings['server'];
  return typeof server === 'object' && server !== null && !Array.isArray(server)
    ? (server as ServerBlock)
    : {};
};

export const textIn = (server: ServerBlock, name: string): string => {
  const value = server[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
export const numberIn = (server: ServerBlock, name: string): number => {
  const value = Number(server[name] ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
};
export const isOn = (server: ServerBlock, name: string): boolean => server[name] === true;

const DEFAULT_SUBNET = '10.8.1.0';
const LEAST_MTU = 1280;

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

export interface Subnet {
  /** `10.8.1.0/24` */
  readonly network: string;
  /** the server in it, the first host: `10.8.1.1` */
  readonly address: string;
  readonly length: number;
}
export function subnetOf(server: ServerBlock): Subnet {
  const ip = textIn(server, 'subnetIp');
  const length = numberIn(server, 'subnetCidr') || 24;
  const size = 2 ** (32 - length);
  const first = Math.floor(toNumber(isIPv4(ip) ? ip : DEFAULT_SUBNET) / size) * size;
  return { network: `${toAddress(first)}/${length}`, address: toAddress(first + 1), length };
}

/** The IPv6 prefix, if the inbound has one. */
export const prefixV6Of = (server: ServerBlock): string | undefined =>
  isOn(server, 'ipv6Enabled') ? textIn(server, 'ipv6Subnet') || undefined : undefined;

/** Returns the first host of a prefix with its length: `fd00:8::/64` → `fd00:8::1/64`. */
function firstHostV6(prefix: string): string {
  const [address = '', length = ''] = prefix.split('/');
  const groups = ipv6Groups(address).map((group, i) => {
    const bits = Math.min(16, Math.max(0, Number(length) - 16 * i));
    return group & (0xffff << (16 - bits)) & 0xffff;
  });
  const last = (groups[7] ?? 0) | 1;
  const text = [...groups.slice(0, 7), last].map((group) => group.toString(16)).join(':');
  return `${canonicalAddress(text) ?? text}/${length}`;
}
/** The server's address in the IPv6 prefix. */
export const serverV6 = (server: ServerBlock): string | undefined => {
  const prefix = prefixV6Of(server);
  return prefix === undefined ? undefined : firstHostV6(prefix);
};

export const mtuOf = (server: ServerBlock): number =>
  numberIn(server, 'mtu') || Math.max(1420 - numberIn(server, 's4'), LEAST_MTU);
