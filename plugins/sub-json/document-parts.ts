// The parts of a document that are the same for all clients. Source: xtls.github.io, the pages on the parts of a config.
import type { JsonObject } from '../engine/contract.js';
import type { DocumentGroup, GroupBalancer } from './contract.js';
import { TAG } from './outbound.js';
import type { Base } from './settled.js';

const BALANCER = 'balancer';
const HERE = '127.0.0.1';
const LEVEL = 8;

/** Only this machine may use them: they ask for no login. */
const INBOUNDS = [
  {
    tag: 'mixed',
    listen: HERE,
    port: 10_808,
    protocol: 'mixed',
    settings: { auth: 'noauth', udp: true, userLevel: LEVEL },
    sniffing: { enabled: true, destOverride: ['http', 'tls', 'quic', 'fakedns'] },
  },
  { tag: 'http', listen: HERE, port: 10_809, protocol: 'http', settings: { userLevel: LEVEL } },
];
const DIRECT = { tag: 'direct', protocol: 'freedom', settings: {} };
const BLOCK = { tag: 'block', protocol: 'blackhole', settings: { response: { type: 'http' } } };
const POLICY = {
  levels: { [LEVEL]: { handshake: 4, connIdle: 300, uplinkOnly: 1, downlinkOnly: 1 } },
  system: { statsOutboundUplink: true, statsOutboundDownlink: true },
};

/** The inside of an object, without its braces. */
const inside = (object: object): string => JSON.stringify(object).slice(1, -1);

/** From the name to the first outbound. */
export const beforeOutbounds = ({ dns }: Base): string =>
  `${inside({ log: { loglevel: 'warning' }, dns, inbounds: INBOUNDS })},"outbounds":[`;

/** From the last outbound of an entry to the end of the document. */
export const afterOutbounds = (
  { domainStrategy }: Base,
  rules: readonly JsonObject[],
  { routing = {}, ...rest }: { readonly routing?: object } & object = {},
): string =>
  `${JSON.stringify(DIRECT)},${JSON.stringify(BLOCK)}],${inside({
    policy: POLICY,
    routing: { domainStrategy, rules, ...routing },
    stats: {},
    ...rest,
  })}}`;

/** What a document of several outbounds has in place of the rule that sends everything to one of them. */
export function groupParts(
  { rules, ping }: Base,
  { tagPrefix }: DocumentGroup,
  { strategy, fallbackTag, measured }: GroupBalancer,
): { readonly rules: readonly JsonObject[]; readonly rest: object } {
  return {
    rules: rules.map((rule) => {
      if (rule['outboundTag'] !== TAG) return rule;
      const { outboundTag: _tag, ...conditions } = rule;
      return { ...conditions, balancerTag: BALANCER };
    }),
    rest: {
      routing: {
        balancers: [
          {
            tag: BALANCER,
            selector: [tagPrefix],
            strategy,
            ...(fallbackTag !== undefined && { fallbackTag }),
          },
        ],
      },
      ...(measured && { burstObservatory: { subjectSelector: [tagPrefix], pingConfig: ping } }),
    },
  };
}
