// A proxy of mihomo as a neutral entry. Source: wiki.metacubex.one, proxies. The reverse of what sub-alt writes.
import type { FinalMask, KnownAccount, ProxyEntry, Security, Transport } from '../inbounds/contract.js';
import type { Fields } from './entry-fields.js';
import { securityOf, tlsSecurity } from './mihomo-security.js';
import { mihomoXhttp } from './mihomo-xhttp.js';
import { earlyData, headersIn, oneHeader, shadowsocksAccount } from './entry-words.js';

type Entry = Omit<ProxyEntry, 'name'>;

/** Of the program itself, not of the way to the server. */
const IRRELEVANT = [
  ...['name', 'type', 'udp', 'ip-version', 'packet-encoding', 'xudp', 'packet-addr', 'tfo', 'mptcp'],
  ...['disable-sni', 'hop-interval', 'up', 'down', 'remote-dns-resolve', 'dns', 'allowed-ips', 'fast-open'],
];

function wsOf(options: Fields | undefined): Transport {
  if (!options) return { kind: 'ws', path: '/', host: '' };
  const { host, headers } = headersIn(options.headers('headers'));
  const path = options.text('path') || '/';
  const isUpgrade = options.flag('v2ray-http-upgrade');
  const early = options.number('max-early-data') ?? 0;
  const header = options.text('early-data-header-name');
  if (early > 0 && header !== '' && header !== 'Sec-WebSocket-Protocol')
    throw options.fault('early-data-header-name', 'the core sends early data as Sec-WebSocket-Protocol only');
  const isFast = options.flag('v2ray-http-upgrade-fast-open');
  return {
    kind: isUpgrade ? 'httpupgrade' : 'ws',
    path: earlyData(path, isUpgrade ? (isFast ? 2560 : 0) : early),
    host,
    ...(headers && { headers }),
  };
}

function grpcOf(options: Fields | undefined): Transport {
  const name = options?.text('grpc-service-name') ?? '';
  // The whole path, as newer programs write it.
  const serviceName = name.startsWith('//') ? '' : name;
  return { kind: 'grpc', serviceName, authority: '', multiMode: false };
}

function httpOf(options: Fields | undefined): Transport {
  const { host, headers } = options
    ? headersIn(options.headers('headers'))
    : { host: '', headers: undefined };
  const method = options?.text('method') ?? '';
  return {
    kind: 'tcp',
    http: {
      host,
      paths: options?.texts('path') ?? [],
      ...(method !== '' && { method }),
      ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]])) }),
    },
  };
}

function transportOf(fields: Fields): Transport {
  const network = fields.text('network') || 'tcp';
  switch (network) {
    case 'tcp':
      return { kind: 'tcp' };
    case 'http':
      return httpOf(fields.inside('http-opts'));
    case 'ws':
      return wsOf(fields.inside('ws-opts'));
    case 'grpc':
      return grpcOf(fields.inside('grpc-opts'));
    case 'xhttp':
      return mihomoXhttp(fields.inside('xhttp-opts'));
    default:
      throw fields.fault('network', `the core has no transport ${network}`);
  }
}

function shadowsocks(fields: Fields): Pick<Entry, 'account' | 'transport' | 'security'> {
  const account = shadowsocksAccount(fields.required('cipher').toLowerCase(), fields.required('password'));
  const plugin = fields.text('plugin');
  if (plugin === '') return { account, transport: { kind: 'tcp' }, security: { kind: 'none' } };
  const options = fields.inside('plugin-opts');
  const mode = options?.text('mode') || (plugin === 'obfs' ? 'http' : 'websocket');
  if (plugin === 'obfs' && mode === 'http') {
    const host = options?.text('host') ?? '';
    return { account, transport: { kind: 'tcp', http: { host, paths: [] } }, security: { kind: 'none' } };
  }
  if (plugin !== 'v2ray-plugin' || mode !== 'websocket' || !options)
    throw fields.fault('plugin', 'only v2ray-plugin over WebSocket and obfs over HTTP can be expressed');
  if (options.flag('mux')) throw options.fault('mux', 'the core speaks no multiplexing of this plugin');
  const host = options.text('host');
  const transport = wsOf(options);
  const isSecure = options.flag('tls');
  return {
    account,
    transport:
      'host' in transport ? ({ ...transport, host: transport.host || host } as Transport) : transport,
    security: isSecure
      ? {
          ...(tlsSecurity(options, []) as Extract<Security, { kind: 'tls' }>),
          ...(host !== '' && { serverName: host }),
        }
      : { kind: 'none' },
  };
}

function hysteria(fields: Fields): Pick<Entry, 'account' | 'transport' | 'security' | 'finalMask'> {
  const obfs = fields.text('obfs');
  if (obfs !== '' && obfs !== 'salamander') throw fields.fault('obfs', 'only salamander can be expressed');
  const ports = fields.text('ports');
  const finalMask: FinalMask = {
    ...(obfs !== '' && { udp: [{ kind: 'salamander', password: fields.required('obfs-password') }] }),
    ...(ports !== '' && { udpHop: { ports: ports.replaceAll('/', ',') } }),
  };
  return {
    account: { protocol: 'hysteria', auth: fields.required('password') },
    transport: { kind: 'own' },
    security: tlsSecurity(fields, ['sni']),
    ...(Object.keys(finalMask).length > 0 && { finalMask }),
  };
}

function wireguard(fields: Fields): Pick<Entry, 'account' | 'transport' | 'security'> {
  const address = [fields.text('ip'), fields.text('ipv6')].filter((one) => one !== '');
  const withBits = address.map((one) => (one.includes('/') ? one : `${one}/${one.includes(':') ? 128 : 32}`));
  return {
    account: {
      protocol: 'wireguard',
      privateKey: fields.required('private-key'),
      publicKey: fields.required('public-key'),
      address: withBits,
      preSharedKey: fields.text('pre-shared-key'),
      keepAlive: fields.number('persistent-keepalive') ?? 0,
      mtu: fields.number('mtu') ?? 0,
      dns: '',
    },
    transport: { kind: 'own' },
    security: { kind: 'none' },
  };
}

function accountOf(fields: Fields, type: string): KnownAccount {
  switch (type) {
    case 'vless':
      return {
        protocol: 'vless',
        id: fields.required('uuid'),
        flow: fields.text('flow'),
        encryption: fields.text('encryption') || 'none',
      };
    case 'vmess':
      if ((fields.number('alterId') ?? 0) > 0)
        throw fields.fault('alterId', 'the core speaks VMess with 0 only');
      return { protocol: 'vmess', id: fields.required('uuid'), security: fields.text('cipher') || 'auto' };
    case 'trojan':
      return { protocol: 'trojan', password: fields.required('password') };
    case 'http':
      return { protocol: 'http', user: fields.text('username'), password: fields.text('password') };
    default:
      return { protocol: 'mixed', user: fields.text('username'), password: fields.text('password') };
  }
}

function wordsOf(fields: Fields, type: string): Omit<Entry, 'server' | 'port'> {
  switch (type) {
    case 'ss':
      return shadowsocks(fields);
    case 'hysteria2':
    case 'hy2':
      return hysteria(fields);
    case 'wireguard':
      return wireguard(fields);
    case 'vless':
    case 'vmess':
      return {
        account: accountOf(fields, type),
        transport: transportOf(fields),
        security: securityOf(fields, ['servername', 'sni']),
      };
    case 'trojan':
      return {
        account: accountOf(fields, type),
        transport: transportOf(fields),
        security: securityOf(fields, ['sni', 'servername'], true),
      };
    case 'http':
    case 'socks5':
      return {
        account: accountOf(fields, type),
        transport: oneHeader(fields),
        security: securityOf(fields, ['sni', 'servername']),
      };
    default:
      throw fields.fault('type', `the core has no outbound for ${type || 'a proxy without a type'}`);
  }
}

/** Throws a ListProblem that names the field. */
export function mihomoEntry(fields: Fields): Entry {
  const type = fields.text('type').toLowerCase();
  const words = wordsOf(fields, type);
  const server = fields.required('server').replace(/^\[(.*)\]$/, '$1');
  const port = fields.has('port') || !fields.has('ports') ? fields.port('port') : firstPort(fields);
  fields.ignore(...IRRELEVANT);
  fields.end();
  return { server, port, ...words };
}

const firstPort = (fields: Fields): number => {
  const port = Number.parseInt(fields.text('ports'), 10);
  if (!(port >= 1 && port <= 65_535)) throw fields.fault('ports', 'it must be a list of ports');
  return port;
};
