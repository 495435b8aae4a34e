// What the JSON of an outbound says: its protocol, the outbounds that it dials through, the servers that it dials. The core
// takes keys in any case, and some letters for others (foldKey).
import { foldKey } from '../core-guard/contract.js';
import type { Json, JsonObject } from '../engine/contract.js';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a key in any case. @param key in lower case */
export function fieldOf(object: Json | undefined, key: string): Json | undefined {
  if (!isObject(object)) return undefined;
  const found = Object.keys(object).find((name) => foldKey(name) === key);
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

/** Values in one outbound; usual ones have some dozens. */
export const MOST_VALUES = 2_000;
/** How many values it holds, itself included; one more than `most` stands for all above. */
export function valuesIn(value: Json, most = MOST_VALUES): number {
  let count = 1;
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value) as Json[]) {
      count += valuesIn(inner, most - count);
      if (count > most) break;
    }
  return count;
}

/** Calls back for every key at every depth; `names` is the way to it, and changes after the call. */
function walk(
  value: Json,
  visit: (names: readonly string[], value: Json) => void,
  names: string[] = [],
): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value) as [string, Json][]) {
    names.push(name);
    if (!Array.isArray(value)) visit(names, inner);
    walk(inner, visit, names);
    names.pop();
  }
}

/** `streamSettings.sockopt.dialerProxy`, also of the downloads of XHTTP, and `proxySettings.tag`. */
function isReference(names: readonly string[]): boolean {
  const key = foldKey(names.at(-1) ?? '');
  return (
    key === 'dialerproxy' ||
    (key === 'tag' && names.length === 2 && foldKey(names[0] ?? '') === 'proxysettings')
  );
}

export interface Reference {
  readonly tag: string;
  /** the key that names it, e.g. `streamSettings.sockopt.dialerProxy` */
  readonly path: string;
}
/** The outbounds that this one dials through. */
export function referencesIn(outbound: JsonObject): Reference[] {
  const found: Reference[] = [];
  walk(outbound, (names, value) => {
    if (typeof value === 'string' && value !== '' && isReference(names))
      found.push({ tag: value, path: names.join('.') });
  });
  return found;
}

/** Returns the outbound with other tags, its own and those that it names. */
export function renamed(outbound: JsonObject, tags: ReadonlyMap<string, string>): JsonObject {
  const names: string[] = [];
  const copy = (value: Json): Json => {
    if (Array.isArray(value))
      return (value as readonly Json[]).map((item, at) => {
        names.push(String(at));
        const copied = copy(item);
        names.pop();
        return copied;
      });
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, inner]): [string, Json] => {
      names.push(name);
      const isTag = typeof inner === 'string' && (isReference(names) || isOwnTag(names));
      const copied = isTag ? (tags.get(inner) ?? inner) : copy(inner);
      names.pop();
      return [name, copied];
    });
    return Object.fromEntries(entries);
  };
  return copy(outbound) as JsonObject;
}
const isOwnTag = (names: readonly string[]): boolean =>
  names.length === 1 && foldKey(names[0] ?? '') === 'tag';

/** Whether its server opens connections through it: it would do so in a test too. */
export function isReverse(outbound: JsonObject): boolean {
  let found = false;
  walk(fieldOf(outbound, 'settings') ?? null, (names, value) => {
    if (value !== null && foldKey(names.at(-1) ?? '') === 'reverse') found = true;
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
