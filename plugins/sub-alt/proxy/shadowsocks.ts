// Shadowsocks as keys of a proxy. mihomo has no transports there: WebSocket is a plugin. Source: wiki.metacubex.one, proxies, ss.
import {
  type EntryTemplate,
  type ShadowsocksAccount,
  type Transport,
  valueFor,
} from '../../inbounds/contract.js';
import type { Hole, Keys, Value } from '../yaml-text.js';
import { each } from './protocols.js';
import { trustKeys } from './security.js';
import { wsOptions } from './transport.js';

type Entry = EntryTemplate<ShadowsocksAccount>;
type Web = Extract<Transport, { kind: 'ws' | 'httpupgrade' }>;

/** The one name that mihomo has for both TLS and the header `Host`: why an entry with two of them cannot be said. */
export function cannotPlugin({ security, transport }: EntryTemplate): string | undefined {
  const { host } = transport as Web;
  const name = security.kind === 'tls' ? security.serverName : '';
  return host && name && host !== name
    ? 'for Shadowsocks over WebSocket mihomo has one name for TLS and the header Host, and this one has two'
    : undefined;
}

function pluginKeys(transport: Web, security: Entry['security']): Keys {
  const { path, headers: all, ...rest } = wsOptions({ ...transport, headers: transport.headers ?? {} });
  const { Host: _said, ...headers } = (all ?? {}) as Record<string, Value>;
  const tls = security.kind === 'tls' ? security : undefined;
  const options: Record<string, Value> = {
    mode: 'websocket',
    // The core speaks no multiplexing of this plugin, which is on by default.
    mux: false,
    path,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(rest['v2ray-http-upgrade'] === true && { 'v2ray-http-upgrade': true }),
  };
  if (tls) {
    const { alpn: _own, ...trust } = trustKeys(tls);
    Object.assign(options, { tls: true, ...trust });
  }
  const host = transport.host || tls?.serverName;
  return {
    plugin: 'v2ray-plugin',
    'plugin-opts': host ? { ...options, host } : ((({ server }) => ({ ...options, host: server })) as Hole),
  };
}

const passwordOf = ({ serverKey, password }: Entry['account']): Value | Hole =>
  serverKey === undefined
    ? each(password, (own) => own)
    : ({ client }) => `${valueFor(serverKey, client) ?? ''}:${valueFor(password, client)}`;

/** One name of the core is another one elsewhere (SIP004). */
const cipherOf = (method: string): string =>
  method.replace(/^(x?chacha20)-poly1305$/, '$1-ietf-poly1305').replace(/^plain$/, 'none');

export const shadowsocksKeys = ({ account, transport, security }: Entry): Keys => ({
  type: 'ss',
  cipher: each(account.method, cipherOf),
  password: passwordOf(account),
  ...(transport.kind === 'ws' || transport.kind === 'httpupgrade' ? pluginKeys(transport, security) : {}),
});
