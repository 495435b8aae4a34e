// Templates that are broken at random, the same ones for the same seed.
import type { Json, JsonObject } from '../../engine/contract.js';

/** Every kind of part, so that each may break. */
export const richTemplate: JsonObject = {
  log: { loglevel: 'warning', dnsLog: false },
  dns: { servers: ['1.1.1.1', { address: '8.8.8.8', domains: ['full:a.example'] }], queryStrategy: 'UseIP' },
  outbounds: [
    { tag: 'direct', protocol: 'freedom', settings: { domainStrategy: 'AsIs' } },
    { tag: 'blocked', protocol: 'blackhole', settings: { response: { type: 'none' } } },
    {
      tag: 'far-1',
      protocol: 'vless',
      settings: {
        vnext: [
          {
            address: '192.0.2.1',
            port: 443,
            users: [{ id: '0b0a7a9c-6b3f-4a55-9c0d-0d8d9c1f2a3b', encryption: 'none' }],
          },
        ],
      },
      streamSettings: { network: 'ws', security: 'tls', wsSettings: { path: '/a', headers: { a: 'b' } } },
    },
    { tag: 'far-2', protocol: 'socks', settings: { servers: [{ address: '192.0.2.2', port: 1080 }] } },
    {
      tag: 'chained',
      protocol: 'http',
      settings: { servers: [{ address: '192.0.2.3', port: 3128 }] },
      streamSettings: { sockopt: { dialerProxy: 'far-2' } },
    },
  ],
  policy: { levels: { '0': { handshake: 4, connIdle: 300 } }, system: {} },
  routing: {
    domainStrategy: 'AsIs',
    balancers: [{ tag: 'pool', selector: ['far-'], strategy: { type: 'random' } }],
    rules: [
      { type: 'field', domain: ['domain:example.com'], balancerTag: 'pool', ruleTag: 'to the pool' },
      { type: 'field', ip: ['192.0.2.0/24'], outboundTag: 'far-1' },
      { type: 'field', port: '25,465-467', network: 'tcp', outboundTag: 'blocked' },
      { type: 'field', protocol: ['bittorrent'], outboundTag: 'blocked', enabled: false },
    ],
  },
};

/** mulberry32, a public-domain generator of numbers from 0 to 1 */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const STRANGE: readonly Json[] = [
  null,
  true,
  -1,
  0,
  65_536,
  1e308,
  '',
  'x',
  'direct',
  'pool',
  'weir.api',
  'weir.blocked',
  '127.0.0.1',
  '/etc/passwd',
  '\u0000',
  'geosite:nowhere',
  'x'.repeat(5000),
  [],
  {},
  [[]],
  [null],
  { tag: 'direct' },
  { type: 'field' },
  ['direct', 'direct'],
];

/** Returns a copy with one to four changes: a value replaced, removed, doubled or moved to another key. */
export function mutated(template: JsonObject, number: () => number): JsonObject {
  const copy = structuredClone(template) as JsonObject;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(number() * list.length)] as T;
  for (let left = 1 + Math.floor(number() * 4); left > 0; left--) {
    const places: [Record<string, Json>, string][] = [];
    const look = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const key of Object.keys(value)) {
        places.push([value as Record<string, Json>, key]);
        look((value as Record<string, Json>)[key] as Json);
      }
    };
    look(copy);
    if (places.length === 0) break;
    const [holder, key] = pick(places);
    const kind = number();
    if (kind < 0.5) holder[key] = structuredClone(pick(STRANGE)) as Json;
    else if (kind < 0.7) {
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
    } else if (kind < 0.85) {
      const value = structuredClone(holder[key]) as Json;
      if (Array.isArray(holder)) holder.push(value);
      else holder[`${key}2`] = value;
    } else {
      const [other, at] = pick(places);
      holder[key] = structuredClone(other[at] ?? null) as Json;
    }
  }
  return copy;
}
