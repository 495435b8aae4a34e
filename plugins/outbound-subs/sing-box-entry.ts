// An outbound or endpoint of sing-box as a neutral entry. Source: sing-box.sagernet.org, outbounds and endpoints. The
// reverse of what sub-sing-box writes.
import type { FinalMask, KnownAccount, ProxyEntry, Security, Transport } from '../inbounds/contract.js';
import type { Fields } from './entry-fields.js';
import { earlyData, headersIn, shadowsocksAccount } from './entry-words.js';

type Entry = Omit<ProxyEntry, 'name'>;

/** Of the program itself, not of the way to the server. */
const IRRELEVANT = [
  ...['type', 'tag', 'packet_encoding', 'network', 'tcp_fast_open', 'tcp_multi_path', 'domain_resolver'],
  ...['domain_strategy', 'connect_timeout', 'system', 'up_mbps', 'down_mbps', 'hop_interval', 'udp_over_tcp'],
];

function securityOf(tls: Fields | undefined): Security {
  if (!tls?.flag('enabled')) return { kind: 'none' };
  const serverName = tls.text('server_name');
  const alpn = tls.texts('alpn');
  const utls = tls.inside('utls');
  const fingerprint = utls?.flag('enabled') ? utls.text('fingerprint') || 'chrome' : '';
  utls?.ignore('fingerprint');
  const reality = tls.inside('reality');
  tls.ignore('fragment', 'fragment_fallback_delay', 'record_fragment');
  if (reality?.flag('enabled'))
    return {
      kind: 'reality',
      serverName,
      publicKey: reality.required('public_key'),
      shortId: reality.text('short_id'),
      fingerprint: fingerprint || 'chrome',
      spiderX: '',
    };
  const ech = tls.inside('ech');
  const ciphers = tls.texts('cipher_suites');
  return {
    kind: 'tls',
    ...(serverName !== '' && { serverName }),
    ...(alpn.length > 0 && { alpn }),
    ...(fingerprint !== '' && { fingerprint }),
    ...(ciphers.length > 0 && { cipherSuites: ciphers.join(':') }),
    ...(tls.flag('insecure') && { allowInsecure: true }),
    ...(ech?.flag('enabled') && { echConfigList: echOf(ech) }),
  };
}

function echOf(ech: Fields): string {
  const config = ech
    .texts('config')
    .join('\n')
    .replaceAll(/-----[A-Z ]+-----|\s+/g, '');
  if (config === '') throw ech.fault('config', 'only ECH with its configs in the document can be read');
  return config;
}

function transportOf(transport: Fields | undefined): Transport {
  const type = transport?.text('type') ?? '';
  if (!transport || type === '') return { kind: 'tcp' };
  if (type === 'grpc')
    return { kind: 'grpc', serviceName: transport.text('service_name'), authority: '', multiMode: false };
  const { host, headers } = headersIn(transport.headers('headers'));
  const path = transport.text('path') || '/';
  if (type === 'ws') {
    const header = transport.text('early_data_header_name');
    const early = transport.number('max_early_data') ?? 0;
    if (early > 0 && header !== 'Sec-WebSocket-Protocol')
      throw transport.fault(
        'early_data_header_name',
        'the core sends early data as Sec-WebSocket-Protocol only',
      );
    return { kind: 'ws', path: earlyData(path, early), host, ...(headers && { headers }) };
  }
  if (type === 'httpupgrade')
    return { kind: 'httpupgrade', path, host: transport.text('host') || host, ...(headers && { headers }) };
  if (type !== 'http') throw transport.fault('type', `the core has no transport ${type}`);
  const method = transport.text('method');
  return {
    kind: 'tcp',
    http: {
      host: transport.texts('host').join(',') || host,
      paths: [path],
      ...(method !== '' && { method }),
      ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]])) }),
    },
  };
}

/** Options of a plugin (SIP003): `key=value;flag`, with backslashes before `;`, `=` and itself. */
function pluginOptions(text: string): Map<string, string> {
  const parts = text.match(/(?:\\.|[^;\\])+/g) ?? [];
  return new Map(
    parts.map((part) => {
      const [, key = '', value = ''] = /^((?:\\.|[^=\\])*)=?(.*)$/s.exec(part) ?? [];
      const plain = (one: string): string => one.replaceAll(/\\(.)/g, '$1');
      return [plain(key), plain(value)] as const;
    }),
  );
}

function shadowsocks(fields: Fields): Omit<Entry, 'server' | 'port'> {
  const account = shadowsocksAccount(fields.required('method'), fields.required('password'));
  const plugin = fields.text('plugin');
  const options = pluginOptions(fields.text('plugin_opts'));
  const host = options.get('host') ?? '';
  if (plugin === '') return { account, transport: { kind: 'tcp' }, security: { kind: 'none' } };
  if (plugin === 'obfs-local' && options.get('obfs') === 'http')
    return {
      account,
      transport: { kind: 'tcp', http: { host: options.get('obfs-host') ?? '', paths: [] } },
      security: { kind: 'none' },
    };
  if (
    plugin !== 'v2ray-plugin' ||
    (options.get('mode') ?? 'websocket') !== 'websocket' ||
    options.get('mux') !== '0'
  )
    throw fields.fault(
      'plugin',
      'only v2ray-plugin over WebSocket with mux=0 and obfs over HTTP can be expressed',
    );
  return {
    account,
    transport: { kind: 'ws', path: options.get('path') || '/', host },
    security: options.has('tls')
      ? { kind: 'tls', ...(host !== '' && { serverName: host }) }
      : { kind: 'none' },
  };
}

function hysteria(fields: Fields, ranges: readonly string[]): Omit<Entry, 'server' | 'port'> {
  const obfs = fields.inside('obfs');
  const type = obfs?.text('type') ?? '';
  if (obfs && type !== 'salamander' && type !== 'gecko')
    throw obfs.fault('type', 'only salamander and gecko can be expressed');
  const sizes = [obfs?.number('min_packet_size'), obfs?.number('max_packet_size')];
  const finalMask: FinalMask = {
    ...(obfs && {
      udp: [
        {
          kind: 'salamander',
          password: obfs.required('password'),
          ...(type === 'gecko' && { packetSize: sizes.join('-') }),
        },
      ],
    }),
    ...(ranges.length > 0 && { udpHop: { ports: portsOf(ranges) } }),
  };
  return {
    account: { protocol: 'hysteria', auth: fields.required('password') },
    transport: { kind: 'own' },
    security: securityOf(fields.inside('tls')),
    ...(Object.keys(finalMask).length > 0 && { finalMask }),
  };
}

const portsOf = (ranges: readonly string[]): string =>
  ranges.map((range) => range.replace(/^(\d+):\1$/, '$1').replace(':', '-')).join(',');

function wireguard(fields: Fields): Entry {
  const [peer, ...others] = fields.each('peers');
  if (!peer || others.length > 0) throw fields.fault('peers', 'it must have one peer');
  if (peer.texts('reserved').some((byte) => byte !== '0') || fields.has('reserved'))
    throw peer.fault('reserved', 'reserved bytes cannot be expressed');
  peer.ignore('allowed_ips');
  return {
    server: peer.required('address'),
    port: peer.port('port'),
    account: {
      protocol: 'wireguard',
      privateKey: fields.required('private_key'),
      publicKey: peer.required('public_key'),
      address: fields.texts('address'),
      preSharedKey: peer.text('pre_shared_key'),
      keepAlive: peer.number('persistent_keepalive_interval') ?? 0,
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
        encryption: 'none',
      };
    case 'vmess':
      if ((fields.number('alter_id') ?? 0) > 0)
        throw fields.fault('alter_id', 'the core speaks VMess with 0 only');
      return { protocol: 'vmess', id: fields.required('uuid'), security: fields.text('security') || 'auto' };
    case 'trojan':
      return { protocol: 'trojan', password: fields.required('password') };
    case 'http':
      return { protocol: 'http', user: fields.text('username'), password: fields.text('password') };
    case 'socks':
      if (!['', '5'].includes(fields.text('version')))
        throw fields.fault('version', 'only SOCKS 5 is supported');
      return { protocol: 'mixed', user: fields.text('username'), password: fields.text('password') };
    default:
      throw fields.fault('type', `the core has no outbound for ${type || 'an outbound without a type'}`);
  }
}

function entryOf(fields: Fields): Entry {
  const type = fields.text('type').toLowerCase();
  if (type === 'wireguard') return wireguard(fields);
  const server = fields.required('server').replace(/^\[(.*)\]$/, '$1');
  if (type === 'hysteria2') {
    const ranges = fields.texts('server_ports');
    const words = hysteria(fields, ranges);
    const first = Number.parseInt(ranges[0] ?? '', 10);
    const port = fields.has('server_port') || ranges.length === 0 ? fields.port('server_port') : first;
    return { server, port, ...words };
  }
  const port = fields.port('server_port');
  if (type === 'shadowsocks') return { server, port, ...shadowsocks(fields) };
  return {
    server,
    port,
    account: accountOf(fields, type),
    transport: transportOf(fields.inside('transport')),
    security: securityOf(fields.inside('tls')),
  };
}

/** Throws a ListProblem that names the field. */
export function singBoxEntry(fields: Fields): Entry {
  const entry = entryOf(fields);
  fields.ignore(...IRRELEVANT);
  fields.end();
  return entry;
}
