// An outbound of a list, with the marks by which the next list finds it again.
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../engine/contract.js';

/** An outbound as a list has it, without a tag. */
export interface Candidate {
  /** as the list calls it */
  readonly name: string;
  readonly config: JsonObject;
  /** of the whole config: two with the same one are the same */
  readonly digest: string;
  /** of protocol, server, port and credentials: the same server also with another way to it */
  readonly identity: string;
}
export interface StoredOutbound extends Candidate {
  readonly tag: string;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectAt = (value: JsonObject, key: string): JsonObject =>
  isObject(value[key]) ? (value[key] as JsonObject) : {};
const firstAt = (value: JsonObject, key: string): JsonObject | undefined => {
  const list = value[key];
  return Array.isArray(list) && isObject(list[0]) ? (list[0] as JsonObject) : undefined;
};

const CREDENTIALS = ['id', 'user', 'password', 'pass', 'email', 'secretKey', 'publicKey', 'auth'] as const;
const hash = (value: Json): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

/** The parts of an outbound that say with whom it speaks. */
function partner(outbound: JsonObject): Json {
  const settings = objectAt(outbound, 'settings');
  const peer = firstAt(settings, 'peers') ?? {};
  const server = firstAt(settings, 'vnext') ?? firstAt(settings, 'servers') ?? settings;
  const user = firstAt(server, 'users') ?? {};
  const hysteria = objectAt(objectAt(outbound, 'streamSettings'), 'hysteriaSettings');
  const said = [server, user, peer, hysteria].flatMap((part) =>
    CREDENTIALS.flatMap((key) => (part[key] === undefined ? [] : [part[key]])),
  );
  return [
    outbound['protocol'] ?? '',
    server['address'] ?? peer['endpoint'] ?? '',
    server['port'] ?? '',
    ...said,
  ] as Json[];
}

export function candidateOf(name: string, { tag: _, ...config }: JsonObject): Candidate {
  return {
    name,
    config: config as JsonObject,
    digest: hash(config as Json),
    identity: hash(partner(config as JsonObject)),
  };
}

/** As the core gets it. */
export const outboundOf = ({ tag, config }: StoredOutbound): JsonObject => ({ tag, ...config });

/** All addresses that an outbound dials, and the name servers that it asks, as written. */
export function serversOf(outbound: JsonObject): string[] {
  const settings = objectAt(outbound, 'settings');
  const stream = objectAt(outbound, 'streamSettings');
  const found: string[] = [];
  const take = (value: Json | undefined): void => {
    if (typeof value === 'string') found.push(value);
  };
  for (const key of ['vnext', 'servers'])
    for (const server of Array.isArray(settings[key]) ? (settings[key] as readonly Json[]) : [])
      if (isObject(server)) take(server['address']);
  take(settings['address']);
  for (const peer of Array.isArray(settings['peers']) ? (settings['peers'] as readonly Json[]) : [])
    if (isObject(peer)) take(hostOfEndpoint(peer['endpoint']));
  const ways = [stream];
  for (const key of ['xhttpSettings', 'splithttpSettings']) {
    const xhttp = objectAt(stream, key);
    for (const way of [xhttp, objectAt(xhttp, 'extra')]) ways.push(objectAt(way, 'downloadSettings'));
  }
  for (const way of ways) {
    take(way['address']);
    const ech = objectAt(way, 'tlsSettings')['echConfigList'];
    if (typeof ech === 'string' && ech.includes('://')) take(nameServerIn(ech));
  }
  return found;
}

/** The core asks it for the keys of ECH: `https://1.1.1.1/dns-query`, `udp://1.1.1.1:53`, either behind `a.example+`. */
const nameServerIn = (ech: string): string =>
  /:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)/.exec(ech)?.[1]?.replace(/^\[(.*)\]$/, '$1') ?? '';

const hostOfEndpoint = (endpoint: Json | undefined): string | undefined =>
  typeof endpoint === 'string' ? endpoint.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1') : undefined;
