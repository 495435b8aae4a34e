// What the JSON of an outbound says: its protocol, the outbounds that it dials through, the servers that it dials. The core
// takes keys in any case.
import type { Json, JsonObject } from '../engine/contract.js';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a key in any case. @param key in lower case */
export function fieldOf(object: Json | undefined, key: string): Json | undefined {
  if (!isObject(object)) return undefined;
  const found = Object.keys(object).find((name) => name.toLowerCase() === key);
  return found === undefined ? undefined : object[found];
}
export const tagOf = (outbound: JsonObject): string => {
  const tag = fieldOf(outbound, 'tag');
  return typeof tag === 'string' ? tag : '';
};
export const protocolOf = (outbound: JsonObject): string =>
  String(fieldOf(outbound, 'protocol') ?? '').toLowerCase();
export const isFreedom = (outbound: JsonObject): boolean =>
  ['freedom', 'direct'].includes(protocolOf(outbound));

type Visit = (key: string, value: Json, path: string) => Json | undefined;
/** Copies a value, with those that `visit` returns in place of others. `key` is in lower case. */
function replaced(value: Json, visit: Visit, key = '', path = ''): Json {
  const other = visit(key, value, path);
  if (other !== undefined) return other;
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item, at) => replaced(item, visit, key, `${path}.${at}`));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      replaced(item, visit, name.toLowerCase(), path === '' ? name : `${path}.${name}`),
    ]),
  );
}

/** `streamSettings.sockopt.dialerProxy`, also of the downloads of XHTTP, and `proxySettings.tag`. */
const isReference = (key: string, path: string): boolean =>
  key === 'dialerproxy' || path.toLowerCase() === 'proxysettings.tag';

export interface Reference {
  readonly tag: string;
  /** the key that names it, e.g. `streamSettings.sockopt.dialerProxy` */
  readonly path: string;
}
/** The outbounds that this one dials through. */
export function referencesIn(outbound: JsonObject): Reference[] {
  const found: Reference[] = [];
  replaced(outbound, (key, value, path) => {
    if (isReference(key, path) && typeof value === 'string' && value !== '') found.push({ tag: value, path });
    return undefined;
  });
  return found;
}

/** Returns the outbound with other tags, its own and those that it names. */
export const renamed = (outbound: JsonObject, names: ReadonlyMap<string, string>): JsonObject =>
  replaced(outbound, (key, value, path) => {
    const isOwn = path.toLowerCase() === 'tag';
    return (isOwn || isReference(key, path)) && typeof value === 'string' ? names.get(value) : undefined;
  }) as JsonObject;

/** Whether its server opens connections through it: it would do so in a test too. */
export function isReverse(outbound: JsonObject): boolean {
  let found = false;
  replaced(fieldOf(outbound, 'settings') ?? null, (key, value) => {
    if (key === 'reverse' && value !== null) found = true;
    return undefined;
  });
  return found;
}

export interface Server {
  readonly host: string;
  readonly port: number;
}
const MOST_SERVERS = 8;

/** The servers in its settings: `vnext`, `servers`, or flat. */
export function serversOf(outbound: JsonObject): Server[] {
  const settings = fieldOf(outbound, 'settings');
  const lists = [fieldOf(settings, 'vnext'), fieldOf(settings, 'servers')];
  const entries = lists.flatMap((entry) => (Array.isArray(entry) ? (entry as readonly Json[]) : []));
  return [...(settings === undefined ? [] : [settings]), ...entries]
    .flatMap((entry) => {
      const [address, port] = [fieldOf(entry, 'address'), Number(fieldOf(entry, 'port'))];
      const isPlace = typeof address === 'string' && address !== '' && !/^[/@]/.test(address);
      return isPlace && Number.isInteger(port) && port > 0 && port < 65_536 ? [{ host: address, port }] : [];
    })
    .slice(0, MOST_SERVERS);
}

/** Whether its server takes UDP, which answers nobody who does not know its keys. */
export function usesUdp(outbound: JsonObject): boolean {
  if (['wireguard', 'hysteria', 'hysteria2', 'tuic'].includes(protocolOf(outbound))) return true;
  const stream = fieldOf(outbound, 'streamsettings');
  const network = String(fieldOf(stream, 'network') ?? '').toLowerCase();
  if (['kcp', 'mkcp', 'quic', 'hysteria'].includes(network)) return true;
  const alpn = fieldOf(fieldOf(stream, 'tlssettings'), 'alpn');
  return ['xhttp', 'splithttp'].includes(network) && String(alpn) === 'h3';
}
