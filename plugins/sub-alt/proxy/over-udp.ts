// Hysteria 2 and TUIC as keys of a proxy. Source: wiki.metacubex.one, proxies, Hysteria2 and TUIC.
import type { EntryTemplate, FinalMask, HysteriaAccount, TuicAccount } from '../../inbounds/contract.js';
import type { Keys, Value } from '../yaml-text.js';
import { each } from './protocols.js';
import { trustKeys } from './security.js';

const tlsKeys = (security: EntryTemplate['security']): Readonly<Record<string, Value>> =>
  security.kind === 'tls' ? { sni: security.serverName || undefined, ...trustKeys(security) } : {};

function obfuscation({ udp = [] }: FinalMask): Readonly<Record<string, Value>> {
  const mask = udp.find((one) => one.kind === 'salamander');
  return mask ? { obfs: 'salamander', 'obfs-password': mask.password } : {};
}

function hopping({ udpHop }: FinalMask): Readonly<Record<string, Value>> {
  if (!udpHop?.ports) return {};
  // Older programs take one number.
  const [seconds] = String(udpHop.interval ?? '').split('-');
  return { ports: udpHop.ports, 'hop-interval': Number(seconds) > 0 ? Number(seconds) : undefined };
}

export const hysteriaKeys = ({ account, security, finalMask }: EntryTemplate<HysteriaAccount>): Keys => ({
  type: 'hysteria2',
  password: each(account.auth, (auth) => auth),
  ...tlsKeys(security),
  ...obfuscation(finalMask ?? {}),
  ...hopping(finalMask ?? {}),
});

const CONTROLS = ['bbr', 'cubic', 'new_reno'];
export const tuicKeys = ({ account, security }: EntryTemplate<TuicAccount>): Keys => ({
  type: 'tuic',
  uuid: each(account.uuid, (uuid) => uuid),
  password: each(account.password, (password) => password),
  'congestion-controller': each(account.congestionControl, (one) =>
    CONTROLS.includes(one) ? one : undefined,
  ),
  'udp-relay-mode':
    account.udpRelayMode && each(account.udpRelayMode, (mode) => (mode === 'quic' ? 'quic' : 'native')),
  ...tlsKeys(security),
});
