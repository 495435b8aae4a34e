// Keys of the core's config that say where the core itself connects to, each with its place in the core's source
// (github.com/xtls/xray-core at v1.260327.0). The core's rules decide where users may go.
import { endsWith } from './config-files.js';
import { type Destination, destinationOf, hostAlone, placeOf } from './destination.js';
import type { Place } from './walk.js';

export interface Dialed {
  /** `relay`: anybody who reaches the inbound is connected there, with every byte unchanged; `server`: an outbound's next hop */
  readonly as: 'relay' | 'server';
  readonly to: Destination;
}

// proxy/vless/inbound/inbound.go:422, proxy/trojan/server.go:458, and for REALITY XTLS/REALITY: net.Dial(type, dest)
const RELAYS = [
  ['fallbacks', 'dest'],
  ['realitysettings', 'target'],
  ['realitysettings', 'dest'],
];

const FETCHED = [
  ['probeurl'],
  ['pingconfig', 'destination'],
  ['pingconfig', 'connectivity'],
  ['webhook', 'url'],
];

function relayed(place: Place): Destination {
  const type = place.siblings.get('type');
  if (type === 'unix' && typeof place.value === 'string') return { kind: 'socket', path: place.value };
  const isPlain = type === undefined || type === null || type === '' || type === 'tcp';
  return isPlain ? destinationOf(place.value) : { kind: 'unreadable' };
}

/** infra/conf/transport_internet.go Masquerade; transport/internet/hysteria/hub.go: a reverse proxy */
function proxied(value: unknown): Destination {
  if (value === undefined || value === null || value === '') return { kind: 'nothing' };
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return { kind: 'unreadable' };
  return placeOf(url.hostname, url.port || (url.protocol === 'https:' ? '443' : '80'));
}

/** `host:` and `host:0` change only the host. */
function withOrWithoutPort(value: unknown): Destination {
  const [, host] = typeof value === 'string' ? (/^(.+):0*$/.exec(value) ?? []) : [];
  return host === undefined ? destinationOf(value) : hostAlone(host);
}

/** Directly in the settings of an outbound or a tunnel. */
const isFlat = ({ keys }: Place): boolean => keys.length === 2 && keys[0] === 'settings';

/** Returns all destinations that this key gives the core. */
export function dialed(place: Place): Dialed[] {
  const { key, keys, value, siblings } = place;
  if (RELAYS.some((end) => endsWith(keys, end))) return [{ as: 'relay', to: relayed(place) }];
  if (endsWith(keys, ['masquerade', 'url'])) return [{ as: 'relay', to: proxied(value) }];
  // Of MTProto, whose own program sends strangers there: github.com/9seconds/mtg, domain-fronting
  if (endsWith(keys, ['domainfronting', 'ip']) && typeof value === 'string' && value !== '')
    return [{ as: 'relay', to: placeOf(value, String(siblings.get('port') || 443)) }];
  const server = (to: Destination): Dialed[] => [{ as: 'server', to }];
  // infra/conf/freedom.go; without a host it changes only the port, and with the port 0 only the host
  if (key === 'redirect' && typeof value === 'string') {
    return value.startsWith(':') ? [] : server(withOrWithoutPort(value));
  }
  // infra/conf/observatory.go and app/observatory/burst: fetched again and again; infra/conf/router.go, WebhookRuleConfig:
  // called for each connection, on a socket too (app/router/webhook.go, parseURL)
  if (FETCHED.some((end) => endsWith(keys, end)))
    return server(
      typeof value === 'string' && /^[/@]/.test(value) ? { kind: 'socket', path: value } : proxied(value),
    );
  // infra/conf/wireguard.go, a peer
  if (key === 'endpoint') return server(destinationOf(value));
  // infra/conf/dokodemo.go
  if (key === 'portmap' && typeof value === 'object' && value !== null)
    return Object.values(value).flatMap((to) => server(withOrWithoutPort(to)));
  // A tunnel's destination, as the panel stores it; the core gets it as `address`
  if (key === 'rewriteaddress' && typeof value === 'string' && siblings.has('rewriteport'))
    return server(
      /^[/@]/.test(value)
        ? { kind: 'socket', path: value }
        : placeOf(value, String(siblings.get('rewriteport'))),
    );
  // The server of an outbound (vnext, servers, or flat), a tunnel's destination, downloadSettings of XHTTP
  if (key !== 'address' || typeof value !== 'string' || value === '') return [];
  // infra/conf/dns_proxy.go: without a port, the one that the user asked for
  if (Number(siblings.get('port') ?? 0) === 0) return isFlat(place) ? server(hostAlone(value)) : [];
  // A name server: infra/conf/dns.go
  if (value.includes('://')) return [];
  if (/^[/@]/.test(value)) return server({ kind: 'socket', path: value });
  return server(placeOf(value, String(siblings.get('port'))));
}
