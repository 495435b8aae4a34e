// Shadowsocks, and its plugins where the inbound has a transport. Source: sing-box.sagernet.org, Shadowsocks outbound; SIP003.
import { type EntryTemplate, type ShadowsocksAccount, valueFor } from '../inbounds/contract.js';
import type { JsonTemplate } from '../subscription/contract.js';
import { askedName, pathOf, withoutHost } from './transport.js';

const METHODS: Readonly<Record<string, string>> = {
  none: 'none',
  plain: 'none',
  'aes-128-gcm': 'aes-128-gcm',
  'aes-256-gcm': 'aes-256-gcm',
  'chacha20-poly1305': 'chacha20-ietf-poly1305',
  'chacha20-ietf-poly1305': 'chacha20-ietf-poly1305',
  'xchacha20-poly1305': 'xchacha20-ietf-poly1305',
  'xchacha20-ietf-poly1305': 'xchacha20-ietf-poly1305',
  '2022-blake3-aes-128-gcm': '2022-blake3-aes-128-gcm',
  '2022-blake3-aes-256-gcm': '2022-blake3-aes-256-gcm',
  '2022-blake3-chacha20-poly1305': '2022-blake3-chacha20-poly1305',
};

const option = (name: string, value: string): string =>
  `${name}=${value.replaceAll(/[\\;=]/g, String.raw`\$&`)}`;

/** sing-box has the transports of Shadowsocks as plugins only. */
function pluginOf(entry: EntryTemplate): Record<string, string> {
  const { transport, security } = entry;
  if (transport.kind !== 'ws') return {};
  const host = transport.host || askedName(entry);
  const options = [
    'mode=websocket',
    // Mux.Cool would be another thing than what the inbound speaks.
    'mux=0',
    ...(host === '' ? [] : [option('host', host)]),
    option('path', pathOf(transport.path).path || '/'),
    ...(security.kind === 'tls' ? ['tls'] : []),
  ];
  return { plugin: 'v2ray-plugin', plugin_opts: options.join(';') };
}

export function shadowsocksOf(entry: EntryTemplate<ShadowsocksAccount>): Record<string, JsonTemplate> {
  const { method, serverKey, password } = entry.account;
  return {
    method: typeof method === 'function' ? ({ client }) => METHODS[method(client)] : METHODS[method],
    password:
      serverKey === undefined
        ? ({ client }) => valueFor(password, client)
        : ({ client }) => `${valueFor(serverKey, client) ?? ''}:${valueFor(password, client)}`,
    ...pluginOf(entry),
  };
}

export function cannotShadowsocks(entry: EntryTemplate<ShadowsocksAccount>): string | undefined {
  const { account, transport, security } = entry;
  const { method } = account;
  if (typeof method === 'string' && !Object.hasOwn(METHODS, method))
    return `sing-box has no method ${method}`;
  if (transport.kind === 'tcp' && !transport.http && security.kind === 'none') return undefined;
  if (transport.kind !== 'ws' || security.kind === 'reality')
    return 'sing-box has Shadowsocks over plain connections and over WebSocket only';
  if (pathOf(transport.path).earlyData > 0 || withoutHost(transport.headers))
    return 'the WebSocket of Shadowsocks in sing-box has neither early data nor headers';
  if (security.kind === 'none') return undefined;
  const { allowInsecure = false, echConfigList = '' } = security;
  if (allowInsecure || echConfigList !== '')
    return 'the TLS of Shadowsocks in sing-box has no options beside a name';
  return (transport.host || askedName(entry)) === (askedName(entry) || transport.host)
    ? undefined
    : 'the WebSocket of Shadowsocks in sing-box has one name for host and TLS';
}
