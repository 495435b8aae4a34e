// The config file of mtg-multi. Source: example.config.toml of github.com/dolonet/mtg-multi, README of
// github.com/mhsanaei/mtg-multi for what the older one does not know; it skips keys that it does not know.
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Inbound } from '../inbounds/contract.js';
import type { ProcessPlace, SidecarUser } from '../sidecars/contract.js';
import { toml, type TomlTable } from './toml.js';

type Settings = Readonly<Record<string, unknown>>;
/** A secret that no client has: the program wants at least one. */
export const NOBODY = 'nobody';
const DEFAULT_DOMAIN = 'www.cloudflare.com';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;
const yes = (value: unknown): true | undefined => (value === true ? true : undefined);
const objectOf = (value: unknown): Settings =>
  typeof value === 'object' && value !== null ? (value as Settings) : {};

const hostPort = (host: string, port: number): string =>
  `${isIPv6(host) ? `[${host}]` : host || '0.0.0.0'}:${port}`;

/** The same for the same process, and known to nobody. */
export function nobodySecret(
  place: Pick<ProcessPlace, 'secret'>,
  { settings }: Pick<Inbound, 'settings'>,
): string {
  const key = createHash('sha256').update(`${NOBODY} ${place.secret}`).digest('hex').slice(0, 32);
  return `ee${key}${Buffer.from(text(settings['fakeTlsDomain']) ?? DEFAULT_DOMAIN).toString('hex')}`;
}

export const secretOf = ({ account }: SidecarUser): string => String(account['secret'] ?? '');
/** Undefined for none, and for one that the program would not take. */
export function adTagOf({ account }: SidecarUser): string | undefined {
  const tag = String(account['adTag'] ?? '');
  return /^[0-9a-f]{32}$/i.test(tag) ? tag.toLowerCase() : undefined;
}

/** `users` undefined: they are put by the API. `proxy` is the address of a SOCKS server for connections to Telegram. */
export function mtgConfig(
  { listen, port, settings }: Pick<Inbound, 'listen' | 'port' | 'settings'>,
  place: Pick<ProcessPlace, 'ports' | 'secret'>,
  users: readonly SidecarUser[] | undefined,
  proxy: string | undefined,
): string {
  const fronting = objectOf(settings['domainFronting']);
  const secrets: Record<string, string> = { [NOBODY]: nobodySecret(place, { settings }) };
  const tags: Record<string, string | undefined> = {};
  for (const user of users ?? []) {
    secrets[user.name] = secretOf(user);
    tags[user.name] = adTagOf(user);
  }
  const first: TomlTable = {
    'bind-to': hostPort(listen, port),
    debug: yes(settings['debug']),
    'proxy-protocol-listener': yes(settings['proxyProtocolListener']),
    'prefer-ip': text(settings['preferIp']),
    'api-bind-to': `127.0.0.1:${place.ports['api']}`,
    'api-token': place.secret,
    'public-ipv4': text(settings['publicIpv4']),
    'public-ipv6': text(settings['publicIpv6']),
  };
  return toml(first, {
    'domain-fronting': {
      host: text(fronting['ip']),
      port: positive(fronting['port']),
      'proxy-protocol': yes(fronting['proxyProtocol']),
    },
    network: { proxies: proxy === undefined ? undefined : [proxy] },
    throttle: { 'max-connections': positive(settings['throttleMaxConnections']) },
    'secret-ad-tags': tags,
    secrets,
  });
}
