// Names are looked up by the core's own DNS, which leaves private addresses out of every answer, and nowhere else. A rule
// cannot do that: it looks a name up once, the outbound looks it up again, and a name server may answer something else then.
import { PRIVATE_RANGES } from '../core-guard/contract.js';
import type { Json, JsonObject } from './driver.js';

/** Inbound tag of the questions that the core's DNS sends itself, and tag of the outbound that they leave by. */
const DNS_TAG = 'weir.dns';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** How Go dials by itself, which is how the core dialled names before (RFC 8305). */
const HAPPY_EYEBALLS: JsonObject = { tryDelayMs: 250, prioritizeIPv6: true };

/** `UseIPv4` and its like fall back to the system's resolver; `ForceIPv4` fails instead. */
const forced = (strategy: Json | undefined): string | undefined => {
  const [, family] = /^(?:use|force)ip(.*)$/i.exec(typeof strategy === 'string' ? strategy : '') ?? [];
  return family === undefined ? undefined : `ForceIP${family}`;
};

/** The same object, with the strategies that it has forced. */
function forcedIn(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) =>
      key === 'domainStrategy' || key === 'targetStrategy' ? [key, forced(value) ?? 'AsIs'] : [key, value],
    ),
  );
}

/** An outbound that dials where its users want to go, with every name looked up by the core's DNS. */
export function withCheckedNames(outbound: JsonObject): JsonObject {
  const stream = objectOf(outbound['streamSettings']);
  const sockopt = objectOf(stream['sockopt']);
  return {
    ...forcedIn(outbound),
    ...(isObject(outbound['settings']) && { settings: forcedIn(outbound['settings']) }),
    streamSettings: {
      ...stream,
      sockopt: {
        happyEyeballs: HAPPY_EYEBALLS,
        ...sockopt,
        domainStrategy: forced(sockopt['domainStrategy']) ?? 'ForceIP',
        // It would take an address from a TXT or SRV record, which nothing checks.
        addressPortStrategy: 'none',
      },
    },
  };
}

function checkedServer(server: string | JsonObject): JsonObject {
  const own = typeof server === 'string' ? { address: server } : server;
  const { unexpectedIPs } = own as { readonly unexpectedIPs?: Json };
  const unwanted = Array.isArray(unexpectedIPs) ? (unexpectedIPs as readonly Json[]) : [];
  // With `*` in the list the core takes an unexpected address when there is no other.
  return { ...own, unexpectedIPs: [...unwanted.filter((range) => range !== '*'), ...PRIVATE_RANGES] };
}

/** The system's resolver, unless there are name servers; families that the machine has no route for are not asked for. */
export const checkedDns = (servers: readonly (string | JsonObject)[]): JsonObject => ({
  tag: DNS_TAG,
  queryStrategy: 'UseSystem',
  servers: (servers.length > 0 ? servers : ['localhost']).map(checkedServer),
});

/** Name servers were named by this machine's admin and may be in its own network. */
export const nameServerOutbound: JsonObject = { tag: DNS_TAG, protocol: 'freedom' };
export const nameServerRule: JsonObject = { type: 'field', inboundTag: [DNS_TAG], outboundTag: DNS_TAG };
