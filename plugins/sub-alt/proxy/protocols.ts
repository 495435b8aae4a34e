// VLESS, VMess, Trojan, HTTP and SOCKS as keys of a proxy. Source: wiki.metacubex.one, proxies.
import {
  type ByClient,
  type EntryTemplate,
  type LoginAccount,
  type TrojanAccount,
  valueFor,
  type VlessAccount,
  type VmessAccount,
  withRoute,
} from '../../inbounds/contract.js';
import type { Hole, Keys, Value } from '../yaml-text.js';
import { securityKeys, trustKeys } from './security.js';
import { transportKeys } from './transport.js';

/** One value for all clients, or a hole. */
export const each = <T>(value: ByClient<T>, write: (value: T) => Value): Value | Hole =>
  typeof value === 'function' ? ({ client }) => write(valueFor(value, client)) : write(value);
const same = (value: string): string => value;

const VISION = 'xtls-rprx-vision';
/** mihomo has one flow, which lets UDP to port 443 through, and refuses a file with another one. */
const flowOf = (flow: string): Value => (flow.startsWith(VISION) ? VISION : undefined);

export const vlessKeys = (entry: EntryTemplate<VlessAccount>): Keys => {
  const { account, vlessRoute, security, transport } = entry;
  const routed = (id: string): string => (vlessRoute === undefined ? id : withRoute(id, vlessRoute));
  return {
    type: 'vless',
    uuid: each(account.id, routed),
    flow: each(account.flow, flowOf),
    encryption: each(account.encryption, (said) => (said === 'none' ? undefined : said || undefined)),
    'packet-encoding': 'xudp',
    ...transportKeys(transport),
    ...securityKeys(security, 'servername'),
  };
};

const CIPHERS = ['auto', 'none', 'zero', 'aes-128-gcm', 'chacha20-poly1305'];
export const vmessKeys = ({ account, security, transport }: EntryTemplate<VmessAccount>): Keys => ({
  type: 'vmess',
  uuid: each(account.id, same),
  alterId: 0,
  cipher: each(account.security, (cipher) => (CIPHERS.includes(cipher) ? cipher : 'auto')),
  'packet-encoding': 'xudp',
  ...transportKeys(transport),
  ...securityKeys(security, 'servername'),
});

/** Always over TLS, so it has no key `tls`. */
export function trojanKeys({ account, security, transport }: EntryTemplate<TrojanAccount>): Keys {
  const { tls: _always, ...keys } = securityKeys(security, 'sni');
  return { type: 'trojan', password: each(account.password, same), ...transportKeys(transport), ...keys };
}

const login = ({ user, password }: EntryTemplate<LoginAccount>['account']): Keys => ({
  username: each(user, same),
  password: each(password, same),
});

export function httpKeys({ account, security }: EntryTemplate<LoginAccount>): Keys {
  const { alpn: _http1, 'client-fingerprint': _none, ...keys } = securityKeys(security, 'sni');
  return { type: 'http', ...login(account), ...keys };
}

export function socksKeys({ account, security }: EntryTemplate<LoginAccount>): Keys {
  const { alpn: _none, ...trust } = security.kind === 'tls' ? trustKeys(security) : {};
  return { type: 'socks5', ...login(account), ...(security.kind === 'tls' && { tls: true, ...trust }) };
}
