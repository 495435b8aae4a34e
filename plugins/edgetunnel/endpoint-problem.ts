// Far ends of tunnels as the service writes them: `host:port`, with an IPv6 address in brackets.
import { isIPv4, isIPv6 } from 'node:net';
import { hostName } from '../../kernel/index.js';

/** Returns the reason against a text that is no `host:port`. */
export function endpointProblem(endpoint: string): string | undefined {
  const problem = 'it must be host:port, such as engage.example.com:2408';
  const [, host = '', port = ''] = /^(\[[\da-fA-F:.]+\]|[^\s:[\]/@]{1,253}):(\d{1,5})$/.exec(endpoint) ?? [];
  if (Number(port) < 1 || Number(port) > 65_535) return problem;
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1)) ? undefined : problem;
  return isIPv4(host) || hostName(host) !== undefined ? undefined : problem;
}

/**
 * Returns the far end by its IPv4 address, where the service names one (`162.159.192.1:0`; the port is that of `host`):
 * Xray-core 26.3.27 crashes when it cannot look up the name of a WireGuard server at the first connection.
 */
export function byAddress({
  host,
  v4 = '',
}: {
  readonly host: string;
  readonly v4?: string | undefined;
}): string {
  const [, name = '', port = ''] = /^(.*):(\d+)$/.exec(host) ?? [];
  const [address = ''] = v4.split(':');
  return !name.startsWith('[') && !isIPv4(name) && isIPv4(address) ? `${address}:${port}` : host;
}
