// Which inbounds run over UDP, where all users share one socket and no connection can be closed alone.
import type { Inbound } from '../inbounds/contract.js';

const OVER_UDP = new Set(['kcp', 'mkcp', 'quic', 'hysteria', 'hysteria2', 'wireguard', 'tuic']);

/** HTTP/3 alone; with h2 or http/1.1 beside it the core listens on TCP. */
function onlyHttp3({ network, security, tlsSettings }: Readonly<Record<string, unknown>>): boolean {
  if ((network !== 'xhttp' && network !== 'splithttp') || security !== 'tls') return false;
  const { alpn } = (tlsSettings ?? {}) as { alpn?: unknown };
  return Array.isArray(alpn) && alpn.length === 1 && alpn[0] === 'h3';
}

/** Shadowsocks carries UDP beside TCP when its settings say so. */
export const servesUdp = (inbound: Pick<Inbound, 'protocol' | 'streamSettings' | 'settings'>): boolean =>
  runsOverUdp(inbound) ||
  (inbound.protocol === 'shadowsocks' && String(inbound.settings['network'] ?? '').includes('udp'));

/** A UDP inbound has one socket for everybody: closing it would disconnect them all. */
export function runsOverUdp({
  protocol,
  streamSettings,
}: Pick<Inbound, 'protocol' | 'streamSettings'>): boolean {
  const network = streamSettings['network'];
  return (
    OVER_UDP.has(protocol) ||
    (typeof network === 'string' && OVER_UDP.has(network)) ||
    onlyHttp3(streamSettings)
  );
}
