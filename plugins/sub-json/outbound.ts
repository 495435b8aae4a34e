// The outbound of an entry, in the form of the core's config. Source: xtls.github.io, one page for each protocol.
import type { JsonObject } from '../engine/contract.js';
import {
  type ByClient,
  type EntryTemplate,
  type HysteriaAccount,
  isOf,
  type Mux,
  type ShadowsocksAccount,
  valueFor,
  type WireguardAccount,
  withRoute,
} from '../inbounds/contract.js';
import { compileJson, type EntryFill, type JsonTemplate, type WriteEntry } from '../subscription/contract.js';
import { maskOf } from './masks.js';
import { transportOf } from './transport.js';

/** What the settings add to all outbounds. */
export interface Common {
  readonly mux: JsonObject | undefined;
  readonly masks: JsonObject | undefined;
}
/** The words of one protocol. */
interface Words {
  readonly protocol: string;
  readonly settings: JsonTemplate;
  /** undefined: it has no `streamSettings` */
  readonly stream?: JsonTemplate;
  /** a client without it has no outbound */
  readonly credential: ByClient<string>;
  readonly mux?: JsonTemplate;
}

export const TAG = 'proxy';
/** A level of the document's policy, with times that suit a phone. */
export const LEVEL = 8;

const text = (value: ByClient<string>): JsonTemplate =>
  typeof value === 'function' ? ({ client }) => valueFor(value, client) : value;
const serverOf = ({ server }: EntryTemplate): JsonTemplate => server || ((fill) => fill.server);
const placeOf = (entry: EntryTemplate) => ({ address: serverOf(entry), port: entry.port });

/** The outbound for a list of one user: older programs read no other form. */
const users = (entry: EntryTemplate, user: Readonly<Record<string, JsonTemplate>>): JsonTemplate => ({
  vnext: [{ ...placeOf(entry), users: [{ level: LEVEL, ...user }] }],
});
const servers = (entry: EntryTemplate, server: Readonly<Record<string, JsonTemplate>>): JsonTemplate => ({
  servers: [{ ...placeOf(entry), level: LEVEL, ...server }],
});

const muxOf = ({ concurrency, xudpConcurrency, xudpProxyUDP443 }: Mux): JsonObject | undefined =>
  concurrency < 0 && xudpConcurrency !== undefined && xudpConcurrency < 0
    ? undefined
    : {
        enabled: true,
        concurrency,
        ...(xudpConcurrency !== undefined && { xudpConcurrency }),
        ...(xudpProxyUDP443 !== undefined && { xudpProxyUDP443 }),
      };
const withoutTcp = (mux: JsonObject): JsonObject => ({ ...mux, concurrency: -1 });
/** XHTTP has connections of its own for many streams, and in this core none of its TCP comes through within another one. */
function muxFor({ mux, transport }: EntryTemplate, common: Common): JsonObject | undefined {
  if (transport.kind !== 'xhttp') return mux ? muxOf(mux) : common.mux;
  const own = mux && muxOf(mux);
  return own && withoutTcp(own);
}

function streamOf(entry: EntryTemplate, common: Common): JsonTemplate {
  const { socket } = entry;
  const masks = maskOf(entry, common.masks);
  return {
    ...transportOf(entry),
    ...(masks && { finalmask: masks as JsonTemplate }),
    ...(socket && { sockopt: socket as unknown as JsonTemplate }),
  };
}

function hysteria(entry: EntryTemplate<HysteriaAccount>, common: Common): Words {
  const auth = text(entry.account.auth);
  return {
    protocol: 'hysteria',
    settings: { version: 2, ...placeOf(entry) },
    stream: {
      ...(streamOf(entry, common) as Readonly<Record<string, JsonTemplate>>),
      network: 'hysteria',
      hysteriaSettings: { version: 2, auth },
    },
    credential: entry.account.auth,
  };
}

function wireguard(entry: EntryTemplate<WireguardAccount>, common: Common): Words {
  const { account, socket } = entry;
  const { privateKey, publicKey, address, preSharedKey, keepAlive, mtu } = account;
  const own = <T extends string | number>(value: ByClient<T>): JsonTemplate =>
    typeof value === 'function' ? ({ client }) => valueFor(value, client) || undefined : value || undefined;
  const masks = maskOf(entry, common.masks);
  return {
    protocol: 'wireguard',
    settings: {
      secretKey: text(privateKey),
      address: typeof address === 'function' ? ({ client }) => valueFor(address, client) : address,
      mtu: own(mtu),
      // The core's own network stack: a program on a phone may not make an interface.
      noKernelTun: true,
      peers: [
        {
          endpoint: (fill: EntryFill) => fill.authority,
          publicKey: text(publicKey),
          allowedIPs: ['0.0.0.0/0', '::/0'],
          preSharedKey: own(preSharedKey),
          keepAlive: own(keepAlive),
        },
      ],
    },
    ...((masks || socket) && {
      stream: {
        ...(masks && { finalmask: masks as JsonTemplate }),
        ...(socket && { sockopt: socket as unknown as JsonTemplate }),
      },
    }),
    credential: privateKey,
  };
}

function shadowsocks(entry: EntryTemplate<ShadowsocksAccount>, common: Common): Words {
  const { method, serverKey, password } = entry.account;
  const both: ByClient<string> =
    serverKey === undefined
      ? password
      : (client) => `${valueFor(serverKey, client)}:${valueFor(password, client)}`;
  return {
    protocol: 'shadowsocks',
    settings: servers(entry, { method: text(method), password: text(both) }),
    stream: streamOf(entry, common),
    credential: password,
    mux: muxFor(entry, common),
  };
}

function wordsOf(entry: EntryTemplate, common: Common): Words {
  if (isOf(entry, 'hysteria')) return hysteria(entry, common);
  if (isOf(entry, 'wireguard')) return wireguard(entry, common);
  if (isOf(entry, 'shadowsocks')) return shadowsocks(entry, common);
  const stream = streamOf(entry, common);
  const mux = muxFor(entry, common);
  if (isOf(entry, 'vless')) {
    const { vlessRoute } = entry;
    const { id, flow, encryption } = entry.account;
    const routed: ByClient<string> =
      vlessRoute === undefined ? id : (client) => withRoute(valueFor(id, client), vlessRoute);
    // Vision takes no TCP within another connection.
    const alone = mux && withoutTcp(mux);
    return {
      protocol: 'vless',
      settings: users(entry, {
        encryption: text(encryption),
        id: text(routed),
        flow:
          typeof flow === 'function'
            ? ({ client }) => valueFor(flow, client) || undefined
            : flow || undefined,
      }),
      stream,
      credential: id,
      mux: mux && (({ client }) => (valueFor(flow, client) === '' ? mux : alone)),
    };
  }
  if (isOf(entry, 'vmess')) {
    const { id, security } = entry.account;
    return {
      protocol: 'vmess',
      settings: users(entry, { security: text(security), id: text(id) }),
      stream,
      credential: id,
      mux,
    };
  }
  if (isOf(entry, 'trojan')) {
    const { password } = entry.account;
    return {
      protocol: 'trojan',
      settings: servers(entry, { password: text(password) }),
      stream,
      credential: password,
      mux,
    };
  }
  if (isOf(entry, 'http') || isOf(entry, 'mixed')) {
    const { user, password } = entry.account;
    return {
      protocol: isOf(entry, 'http') ? 'http' : 'socks',
      settings: {
        servers: [{ ...placeOf(entry), users: [{ level: LEVEL, user: text(user), pass: text(password) }] }],
      },
      stream,
      credential: user,
    };
  }
  throw new Error(`the core has no outbound for ${entry.account.protocol}`);
}

/** The tag comes first: documents of several outbounds write another one in its place. */
export function compileOutbound(entry: EntryTemplate, common: Common): WriteEntry {
  const { protocol, settings, stream, credential, mux } = wordsOf(entry, common);
  const write = compileJson({ tag: TAG, protocol, settings, streamSettings: stream, mux });
  return (fill) => (valueFor(credential, fill.client) === '' ? '' : write(fill));
}
