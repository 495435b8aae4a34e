// Peers: what a client's account asks for, and the lines that change the running device to it.
import { canonicalAddress } from '../../kernel/index.js';
import type { CoreAccount } from '../engine/contract.js';
import type { SidecarUser } from '../sidecars/contract.js';
import type { PeerState } from './device-state.js';
import { base64Of, hexOf } from './device-settings.js';

export interface Peer {
  readonly user: SidecarUser;
  /** hexadecimal */
  readonly publicKey: string;
  /** hexadecimal, or empty */
  readonly preSharedKey: string;
  /** seconds; 0 for none */
  readonly keepAlive: number;
  /** `10.8.1.2/32` */
  readonly allowedIPs: readonly string[];
  /** `80,8000-8100`; empty for none */
  readonly forwardedPorts: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined for an account without key or address, of which no peer can be made. */
export function peerOf(user: SidecarUser): Peer | undefined {
  const { account } = user;
  const publicKey = hexOf(text(account['publicKey']));
  const allowedIPs = text(account['allowedIPs']).split(',').filter(Boolean);
  if (publicKey.length !== 64 || allowedIPs.length === 0) return undefined;
  const keepAlive = account['keepAlive'];
  return {
    user,
    publicKey,
    preSharedKey: hexOf(text(account['preSharedKey'])),
    keepAlive: typeof keepAlive === 'number' ? keepAlive : 0,
    allowedIPs,
    forwardedPorts: text(account['forwardedPorts']),
  };
}

/** The network that the program makes of a prefix is without the bits behind its length; hosts are the same in both. */
const oneSpelling = (prefix: string): string => {
  const [address = '', length = ''] = prefix.split('/');
  return `${canonicalAddress(address) ?? address}/${length}`;
};
const sameAddresses = (one: readonly string[], other: readonly string[]): boolean => {
  const spelled = new Set(other.map(oneSpelling));
  return one.length === spelled.size && one.every((prefix) => spelled.has(oneSpelling(prefix)));
};

export const removalLines = (publicKey: string): string[] => [`public_key=${publicKey}`, 'remove=true'];

/** Nothing for a peer that is not there. */
export const quietLines = (publicKey: string): string[] => [
  `public_key=${publicKey}`,
  'update_only=true',
  'replace_allowed_ips=true',
];

const NO_KEY = '0'.repeat(64);

/** Returns the lines that make the peer so; none where it is so already. `now` is undefined for one that the device does not have. */
export function peerLines(peer: Peer, now: Omit<PeerState, 'publicKey'> | undefined): string[] {
  const lines: string[] = [];
  if ((now?.preSharedKey ?? '') !== peer.preSharedKey)
    lines.push(`preshared_key=${peer.preSharedKey || NO_KEY}`);
  if ((now?.keepAlive ?? 0) !== peer.keepAlive) lines.push(`persistent_keepalive_interval=${peer.keepAlive}`);
  if (!now || !sameAddresses(peer.allowedIPs, now.allowedIPs))
    lines.push('replace_allowed_ips=true', ...peer.allowedIPs.map((prefix) => `allowed_ip=${prefix}`));
  return lines.length === 0 ? [] : [`public_key=${peer.publicKey}`, ...lines];
}

/** The fields of an account as the device has them. */
export const accountIn = ({ preSharedKey, keepAlive, allowedIPs }: PeerState): Partial<CoreAccount> => ({
  preSharedKey: base64Of(preSharedKey),
  keepAlive,
  allowedIPs: allowedIPs.join(','),
});
