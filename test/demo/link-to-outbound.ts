// Reads a share link as a client program does: only the link says how to connect.
// Grammars: the Xray share-link proposal (XTLS/Xray-core discussion 716), v2rayN's JSON for vmess, SIP002 and SIP022 for shadowsocks.
import type { JsonObject } from '../../plugins/engine/contract.js';

interface Read {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** as the proposal calls them */
  readonly params: URLSearchParams;
  readonly protocol: string;
  readonly settings: (place: { address: string; port: number }) => JsonObject;
}

function transport(type: string, params: URLSearchParams): JsonObject {
  const get = (key: string): string => params.get(key) ?? '';
  const http = { path: get('path'), host: get('host') };
  switch (type) {
    case 'tcp':
      return get('headerType') === 'http'
        ? {
            tcpSettings: {
              header: { type: 'http', request: { path: [http.path || '/'], headers: { Host: [http.host] } } },
            },
          }
        : {};
    case 'ws':
      return { wsSettings: http };
    case 'httpupgrade':
      return { httpupgradeSettings: http };
    case 'grpc':
      return {
        grpcSettings: {
          serviceName: get('serviceName'),
          authority: get('authority'),
          multiMode: get('mode') === 'multi',
        },
      };
    case 'xhttp':
      return {
        xhttpSettings: {
          ...http,
          mode: get('mode') || 'auto',
          ...(get('extra') && { extra: JSON.parse(get('extra')) as JsonObject }),
        },
      };
    case 'kcp':
      return {
        kcpSettings: {
          ...(get('mtu') && { mtu: Number(get('mtu')) }),
          ...(get('tti') && { tti: Number(get('tti')) }),
        },
      };
    default:
      throw new Error(`unknown transport "${type}"`);
  }
}

function stream(params: URLSearchParams): JsonObject {
  const get = (key: string): string => params.get(key) ?? '';
  const network = get('type') || 'tcp';
  const security = get('security') || 'none';
  const masks = get('fm');
  const common = {
    network,
    security,
    ...transport(network, params),
    ...(masks && { finalmask: JSON.parse(masks) as JsonObject }),
  };
  const pins = get('pcs');
  if (security === 'tls')
    return {
      ...common,
      tlsSettings: {
        serverName: get('sni'),
        fingerprint: get('fp'),
        ...(get('alpn') && { alpn: get('alpn').split(',') }),
        ...(pins && { pinnedPeerCertSha256: pins }),
      },
    };
  if (security === 'reality')
    return {
      ...common,
      realitySettings: {
        serverName: get('sni'),
        fingerprint: get('fp'),
        publicKey: get('pbk'),
        shortId: get('sid'),
        spiderX: get('spx'),
      },
    };
  return common;
}

function readUrl(link: string): Read {
  const { protocol: scheme, username, password, hostname, port, searchParams: params, hash } = new URL(link);
  const protocol = scheme.slice(0, -1);
  const credential = decodeURIComponent(username);
  const common = {
    name: decodeURIComponent(hash.slice(1)),
    address: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    params,
  };
  if (protocol === 'vless')
    return {
      ...common,
      protocol,
      settings: (place) => ({
        vnext: [
          {
            ...place,
            users: [
              {
                id: credential,
                encryption: params.get('encryption') ?? 'none',
                flow: params.get('flow') ?? '',
              },
            ],
          },
        ],
      }),
    };
  if (protocol === 'trojan')
    return { ...common, protocol, settings: (place) => ({ servers: [{ ...place, password: credential }] }) };
  if (protocol === 'ss') {
    // v2rayN and others run this plugin of SIP003 as the core's own disguise.
    const [plugin, ...options] = (params.get('plugin') ?? '').split(';');
    if (plugin === 'obfs-local' && options.includes('obfs=http')) {
      params.set('headerType', 'http');
      const host = options.find((option) => option.startsWith('obfs-host='));
      params.set('host', host?.slice('obfs-host='.length) ?? '');
    }
    const plain =
      password === ''
        ? Buffer.from(credential, 'base64url').toString()
        : `${credential}:${decodeURIComponent(password)}`;
    const [method = ''] = plain.split(':', 1);
    return {
      ...common,
      protocol: 'shadowsocks',
      settings: (place) => ({ servers: [{ ...place, method, password: plain.slice(method.length + 1) }] }),
    };
  }
  if (protocol === 'http' || protocol === 'socks') {
    const [user, pass] =
      password === ''
        ? Buffer.from(credential, 'base64url').toString().split(':')
        : [credential, decodeURIComponent(password)];
    return {
      ...common,
      protocol,
      settings: (place) => ({ servers: [{ ...place, users: [{ user: user ?? '', pass: pass ?? '' }] }] }),
    };
  }
  throw new Error(`unknown protocol "${protocol}"`);
}

function readVmess(link: string): Read {
  const {
    ps,
    add,
    port,
    id,
    scy,
    net,
    tls,
    type,
    path,
    authority,
    x_padding_bytes: _padding,
    ...rest
  } = JSON.parse(Buffer.from(link.slice('vmess://'.length), 'base64').toString()) as Record<string, string>;
  const params = new URLSearchParams({
    ...rest,
    type: net ?? 'tcp',
    security: tls ?? 'none',
    path: path ?? '',
  });
  if (type === 'http') params.set('headerType', 'http');
  if (net === 'grpc')
    for (const [key, value] of [
      ['serviceName', path],
      ['authority', authority],
      ['mode', type],
    ] as const)
      params.set(key, value ?? '');
  return {
    name: ps ?? '',
    address: add ?? '',
    port: Number(port),
    params,
    protocol: 'vmess',
    settings: (place) => ({ vnext: [{ ...place, users: [{ id: id ?? '', security: scy ?? 'auto' }] }] }),
  };
}

/** v2.hysteria.network, URI scheme; `mport` as v2rayN reads it. */
function hysteriaOutbound(link: string): { name: string; outbound: JsonObject } {
  const { username, hostname, port, searchParams: params, hash } = new URL(link);
  const get = (key: string): string => params.get(key) ?? '';
  const settings = { version: 2, address: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  return {
    name: decodeURIComponent(hash.slice(1)),
    outbound: {
      tag: 'proxy',
      protocol: 'hysteria',
      settings,
      streamSettings: {
        network: 'hysteria',
        security: 'tls',
        hysteriaSettings: { version: 2, auth: decodeURIComponent(username) },
        tlsSettings: {
          serverName: get('sni'),
          ...(get('alpn') && { alpn: get('alpn').split(',') }),
          ...(get('pinSHA256') && { pinnedPeerCertSha256: get('pinSHA256') }),
        },
        finalmask: {
          ...(get('obfs') && {
            udp: [{ type: get('obfs'), settings: { password: get('obfs-password') } }],
          }),
          quicParams: {
            // A client that notices a lost connection soon: tests wait for it.
            maxIdleTimeout: 4,
            keepAlivePeriod: 2,
            ...(get('mport') && { udpHop: { ports: get('mport'), interval: 30 } }),
          },
        },
      },
    },
  };
}

/** As v2rayN reads it. */
function wireguardOutbound(link: string): { name: string; outbound: JsonObject } {
  const { username, hostname, port, searchParams: params, hash } = new URL(link);
  const get = (key: string): string => params.get(key) ?? '';
  return {
    name: decodeURIComponent(hash.slice(1)),
    outbound: {
      tag: 'proxy',
      protocol: 'wireguard',
      settings: {
        secretKey: decodeURIComponent(username),
        address: get('address').split(','),
        noKernelTun: true,
        ...(get('mtu') && { mtu: Number(get('mtu')) }),
        peers: [
          {
            endpoint: `${hostname}:${port}`,
            publicKey: get('publickey'),
            allowedIPs: ['0.0.0.0/0', '::/0'],
            ...(get('presharedkey') && { preSharedKey: get('presharedkey') }),
            ...(get('keepalive') && { keepAlive: Number(get('keepalive')) }),
          },
        ],
      },
    },
  };
}

/** Returns the outbound with which a core connects by the link, and the name that a client program shows for it. */
export function outboundOf(link: string): { name: string; outbound: JsonObject } {
  if (link.startsWith('hysteria2://')) return hysteriaOutbound(link);
  if (link.startsWith('wireguard://')) return wireguardOutbound(link);
  const { name, address, port, params, protocol, settings } = link.startsWith('vmess://')
    ? readVmess(link)
    : readUrl(link);
  return {
    name,
    outbound: {
      tag: 'proxy',
      protocol,
      settings: settings({ address, port }),
      streamSettings: stream(params),
    },
  };
}

/** Links of a subscription: lines, or lines in base64. */
export function linksOf(body: string): string[] {
  const text = body.includes('://') ? body : Buffer.from(body, 'base64').toString('utf8');
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
