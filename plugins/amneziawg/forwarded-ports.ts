// Ports of this machine that lead to a client.
import type { Peer } from './peers.js';

type Range = readonly [low: number, high: number];

export interface ForwardedPort {
  readonly low: number;
  readonly high: number;
  /** of the client; blank where it has none of this family */
  readonly v4: string;
  readonly v6: string;
}

const rangesOf = (ports: string): Range[] =>
  ports
    .split(',')
    .filter((one) => /^\d{1,5}(?:-\d{1,5})?$/.test(one))
    .map((one) => {
      const [low = 0, high = low] = one.split('-').map(Number);
      return [low, high] as const;
    })
    .filter(([low, high]) => low >= 1 && low <= high && high <= 65_535);

/** The first address of the client itself, for a network of one address. */
const hostOf = ({ allowedIPs }: Peer, ending: string, isV6: boolean): string =>
  allowedIPs.find((one) => one.endsWith(ending) && one.includes(':') === isV6)?.slice(0, -ending.length) ??
  '';

/**
 * Returns the forwarded ports of all clients. A port that two clients have leads to the one with the lower id;
 * `isTaken` is called with what is left out for that reason.
 */
export function forwardedPorts(
  peers: Iterable<Peer>,
  isTaken: (peer: Peer, ports: string) => void,
): ForwardedPort[] {
  const found: ForwardedPort[] = [];
  const claimed = new Uint8Array(65_536);
  for (const peer of [...peers].sort((a, b) => a.user.clientId - b.user.clientId)) {
    const [v4, v6] = [hostOf(peer, '/32', false), hostOf(peer, '/128', true)];
    for (const [low, high] of rangesOf(peer.forwardedPorts)) {
      if (claimed.subarray(low, high + 1).includes(1)) {
        isTaken(peer, low === high ? String(low) : `${low}-${high}`);
        continue;
      }
      claimed.fill(1, low, high + 1);
      found.push({ low, high, v4, v6 });
    }
  }
  return found;
}

/** Elements of a map of nftables; blank for none. */
export const elementsOf = (ports: readonly ForwardedPort[], family: 'v4' | 'v6'): string =>
  ports
    .filter((port) => port[family] !== '')
    .map((port) => `${port.low === port.high ? port.low : `${port.low}-${port.high}`} : ${port[family]}`)
    .join(', ');
