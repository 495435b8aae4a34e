// What a running device has, as its control socket tells it.
import type { ControlSocket } from './control-socket.js';

export interface PeerState {
  /** hexadecimal, as all keys here */
  readonly publicKey: string;
  preSharedKey: string;
  /** the address from which it came last; empty before that */
  endpoint: string;
  /** Unix ms of the last handshake; 0 for none */
  handshake: number;
  /** bytes from the peer to the server */
  received: number;
  sent: number;
  keepAlive: number;
  readonly allowedIPs: string[];
}
export interface DeviceState {
  /** of the device itself: `listen_port`, `jc` … */
  readonly settings: ReadonlyMap<string, string>;
  readonly peers: ReadonlyMap<string, PeerState>;
}

const MOST_PEERS = 65_536;
const LONGEST_VALUE = 4096;
const MOST_ADDRESSES = 1000;
const KEY = /^[\da-f]{64}$/;

/** A counter or a time: it fits into a number of JavaScript, or the program lies. */
function wholeNumber(key: string, value: string): number {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
  if (!Number.isSafeInteger(number))
    throw new Error(`amneziawg-go reports ${key}=${value.slice(0, 40)}, which is not a valid number`);
  return number;
}

const newPeer = (publicKey: string): PeerState => ({
  publicKey,
  preSharedKey: '',
  endpoint: '',
  handshake: 0,
  received: 0,
  sent: 0,
  keepAlive: 0,
  allowedIPs: [],
});

function readPeer(peer: PeerState, key: string, value: string): void {
  switch (key) {
    case 'preshared_key':
      peer.preSharedKey = /^0+$/.test(value) ? '' : value;
      break;
    case 'endpoint':
      peer.endpoint = value.slice(0, 100);
      break;
    case 'last_handshake_time_sec':
      peer.handshake += wholeNumber(key, value) * 1000;
      break;
    case 'last_handshake_time_nsec':
      peer.handshake += Math.floor(wholeNumber(key, value) / 1_000_000);
      break;
    case 'rx_bytes':
      peer.received = wholeNumber(key, value);
      break;
    case 'tx_bytes':
      peer.sent = wholeNumber(key, value);
      break;
    case 'persistent_keepalive_interval':
      peer.keepAlive = wholeNumber(key, value);
      break;
    case 'allowed_ip':
      if (peer.allowedIPs.length < MOST_ADDRESSES) peer.allowedIPs.push(value.slice(0, 64));
  }
}

/** Reads settings and peers. Rejects for a reply that cannot be true. */
export async function readDevice(control: ControlSocket): Promise<DeviceState> {
  const settings = new Map<string, string>();
  const peers = new Map<string, PeerState>();
  let peer: PeerState | undefined;
  await control.get((line) => {
    const end = line.indexOf('=');
    const [key, value] = [line.slice(0, end), line.slice(end + 1)];
    if (end < 1) throw new Error(`amneziawg-go writes a line without a key: ${line.slice(0, 40)}`);
    if (key === 'public_key') {
      if (!KEY.test(value) || peers.size >= MOST_PEERS)
        throw new Error('amneziawg-go reports a peer without a valid key, or more than 65,536 peers');
      peers.set(value, (peer = newPeer(value)));
    } else if (peer) readPeer(peer, key, value);
    else if (settings.size < 100) settings.set(key, value.slice(0, 2 * LONGEST_VALUE));
  });
  return { settings, peers };
}
