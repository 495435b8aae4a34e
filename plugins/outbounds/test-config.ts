// The config of a core that only tests outbounds. It listens on one private socket; the name with which a caller logs in there
// chooses the outbound, and whatever else comes in leads nowhere.
import { foldKey } from '../core-guard/contract.js';
import { protocolOf, renamed, tagOf, fieldOf } from './outbound-json.js';
import type { Candidate } from './candidates.js';
import type { Json, JsonObject } from '../engine/contract.js';

/** First in the config: what no rule takes ends here, also what a server sends back through an outbound. */
const NOWHERE: JsonObject = { tag: 'nowhere', protocol: 'blackhole' };

export interface TestConfig {
  readonly config: JsonObject;
  /** name and password of a candidate, by its tag */
  readonly logins: ReadonlyMap<string, string>;
  /** tags by those in this config, which have no meaning elsewhere */
  readonly tags: ReadonlyMap<string, string>;
}

/** A test needs no network interface, for which the core would need rights. */
function adapted(outbound: JsonObject): JsonObject {
  if (protocolOf(outbound) !== 'wireguard') return outbound;
  const settings = fieldOf(outbound, 'settings');
  const others = Object.entries(outbound).filter(([key]) => foldKey(key) !== 'settings');
  const own = Object.entries((settings ?? {}) as JsonObject).filter(
    ([key]) => foldKey(key) !== 'nokerneltun',
  );
  return { ...Object.fromEntries(others), settings: { ...Object.fromEntries(own), noKernelTun: true } };
}

/** @param password of all logins; the socket is private, and so is the config */
export function testConfig(
  candidates: readonly Candidate[],
  { socket, password }: { readonly socket: string; readonly password: string },
): TestConfig {
  const members = new Map<string, JsonObject>();
  for (const candidate of candidates)
    for (const member of candidate.members) members.set(tagOf(member), member);
  const names = new Map([...members.keys()].map((tag, at) => [tag, `o${at}`]));
  const users = candidates.map(({ tag }, at) => ({ user: `u${at}`, outbound: names.get(tag) ?? '' }));
  const accounts: Json[] = users.map(({ user }) => ({ user, pass: password }));
  return {
    config: {
      // `taking detour` tells which outbound a line is about
      log: { loglevel: 'info', access: 'none' },
      inbounds: [
        {
          tag: 'test',
          listen: `${socket},0600`,
          protocol: 'http',
          settings: { accounts },
        },
      ],
      outbounds: [NOWHERE, ...[...members.values()].map((member) => adapted(renamed(member, names)))],
      routing: {
        domainStrategy: 'AsIs',
        rules: users.map(({ user, outbound }) => ({ type: 'field', user: [user], outboundTag: outbound })),
      },
    },
    logins: new Map(candidates.map(({ tag }, at) => [tag, `u${at}:${password}`])),
    tags: new Map([...names].map(([tag, name]) => [name, tag])),
  };
}
