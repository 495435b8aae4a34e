// Keys of proxies by type: those of the schema that is published for mihomo 1.19.24 (npm, meta-json-schema, MIT; its own
// install script lets no npm install it), and of the documentation (wiki.metacubex.one) where that is newer.
const words = (text: string): readonly string[] => text.split(' ');

const COMMON = words('type name server port udp tfo mptcp interface-name routing-mark ip-version');
const TRUST = words('alpn skip-cert-verify fingerprint ech-opts name-cert-verify');
const OVER = words('network reality-opts grpc-opts ws-opts client-fingerprint');

export const KEYS: Readonly<Record<string, readonly string[]>> = {
  vless: [
    ...[...COMMON, ...TRUST, ...OVER],
    ...words('uuid flow tls packet-encoding encryption http-opts xhttp-opts servername'),
  ],
  vmess: [
    ...[...COMMON, ...TRUST, ...OVER],
    ...words('uuid alterId cipher tls packet-encoding http-opts servername'),
  ],
  trojan: [...COMMON, ...TRUST, ...OVER, ...words('password sni')],
  ss: [...COMMON, ...words('password cipher plugin plugin-opts')],
  http: [...COMMON, ...TRUST, ...words('username password tls sni')],
  socks5: [...COMMON, ...TRUST, ...words('username password tls')],
  hysteria2: [...COMMON, ...TRUST, ...words('password sni ports hop-interval obfs obfs-password')],
  tuic: [...COMMON, ...TRUST, ...words('uuid password sni congestion-controller udp-relay-mode')],
  wireguard: [
    ...COMMON,
    ...words('private-key public-key pre-shared-key ip ipv6 allowed-ips persistent-keepalive mtu'),
    ...words('remote-dns-resolve dns amnezia-wg-option'),
  ],
};
const XHTTP = words(
  'path host headers no-grpc-header x-padding-bytes x-padding-obfs-mode x-padding-key x-padding-header x-padding-placement x-padding-method uplink-http-method session-placement session-key session-table session-length seq-placement seq-key uplink-data-placement uplink-data-key uplink-chunk-size sc-max-each-post-bytes sc-min-posts-interval-ms reuse-settings',
);
/** Keys inside of others. */
export const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'ws-opts': words(
    'path headers max-early-data early-data-header-name v2ray-http-upgrade v2ray-http-upgrade-fast-open',
  ),
  'http-opts': words('method path headers'),
  'grpc-opts': words('grpc-service-name'),
  'xhttp-opts': [...XHTTP, 'mode', 'download-settings'],
  'reuse-settings': words(
    'max-concurrency max-connections c-max-reuse-times h-max-request-times h-max-reusable-secs h-keep-alive-period',
  ),
  'download-settings': [
    ...XHTTP,
    ...TRUST,
    ...words('server port tls reality-opts servername client-fingerprint'),
  ],
  'reality-opts': words('public-key short-id support-x25519mlkem768'),
  'ech-opts': words('enable config query-server-name'),
  'plugin-opts': [...TRUST, ...words('mode host path tls headers mux v2ray-http-upgrade')],
  'amnezia-wg-option': words('jc jmin jmax s1 s2 s3 s4 h1 h2 h3 h4 i1 i2 i3 i4 i5'),
};
