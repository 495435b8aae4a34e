// The document around the entries, where the admin gives none. Source: sing-box.sagernet.org, configuration.
import type { JsonObject } from '../engine/contract.js';
import type { Minor } from './version.js';

/** In a list of outbounds: the tags of all entries. */
export const ALL = '{all}';

const DNS: JsonObject = {
  servers: [
    { type: 'https', tag: 'remote', server: '1.1.1.1', detour: 'proxy' },
    { type: 'local', tag: 'local' },
  ],
  final: 'remote',
};
/** Servers of DNS as they were before 1.12. */
const DNS_11: JsonObject = {
  servers: [
    { tag: 'remote', address: 'https://1.1.1.1/dns-query', detour: 'proxy' },
    { tag: 'local', address: 'local', detour: 'direct' },
  ],
  rules: [{ outbound: 'any', server: 'local' }],
  final: 'remote',
};

/** All traffic of the device goes through the chosen entry, but for its own network. */
export const defaultTemplate = (minor: Minor): JsonObject => ({
  log: { level: 'warn' },
  dns: minor >= 12 ? DNS : DNS_11,
  inbounds: [
    {
      type: 'tun',
      tag: 'tun',
      address: ['172.19.0.1/30', 'fdfe:dcba:9876::1/126'],
      auto_route: true,
      strict_route: true,
    },
    { type: 'mixed', tag: 'mixed', listen: '127.0.0.1', listen_port: 2080 },
  ],
  outbounds: [
    { type: 'selector', tag: 'proxy', outbounds: ['auto', ALL] },
    {
      type: 'urltest',
      tag: 'auto',
      outbounds: [ALL],
      url: 'https://www.gstatic.com/generate_204',
      interval: '5m',
    },
    { type: 'direct', tag: 'direct' },
  ],
  route: {
    rules: [
      { action: 'sniff' },
      { protocol: 'dns', action: 'hijack-dns' },
      { ip_is_private: true, outbound: 'direct' },
    ],
    final: 'proxy',
    auto_detect_interface: true,
    ...(minor >= 12 && { default_domain_resolver: 'local' }),
  },
  experimental: { cache_file: { enabled: true } },
});
