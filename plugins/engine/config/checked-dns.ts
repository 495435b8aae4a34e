// Only the core's own DNS looks names up; it removes private addresses from every answer. A rule is not enough: it looks a
// name up once, the outbound looks it up again, and a name server may answer differently then.
import { PRIVATE_RANGES } from '../../core-guard/contract.js';
import type { Json, JsonObject } from '../driver.js';

/** Inbound tag of the queries that the core's DNS sends, and tag of their outbound. */
const DNS_TAG = 'weir.dns';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Go's default for dialling names (RFC 8305). */
const HAPPY_EYEBALLS: JsonObject = { tryDelayMs: 250, prioritizeIPv6: true };

/** `UseIPv4` and similar fall back to the system's resolver; `ForceIPv4` fails instead. */
const forced = (strategy: Json | undefined): string | undefined => {
  const [, family] = /^(?:use|force)ip(.*)$/i.exec(typeof strategy === 'string' ? strategy : '') ?? [];
  return family === undefined ? undefined : `ForceIP${family}`;
};

/** Returns the same object with its strategies in their `Force` form. */
function forcedIn(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) =>
      key === 'domainStrategy' || key === 'targetStrategy' ? [key, forced(value) ?? 'AsIs'] : [key, value],
    ),
  );
}

/** Returns an outbound that dials the users' targets, with every name looked up by the core's DNS. */
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
        // It would use an unchecked address from a TXT or SRV record.
        addressPortStrategy: 'none',
      },
    },
  };
}

function checkedServer(server: string | JsonObject): string | JsonObject {
  // Its answers are numbers for names, from a range of its own, and go to client programs only.
  if (server === 'fakedns') return server;
  const own = typeof server === 'string' ? { address: server } : server;
  const { unexpectedIPs } = own as { readonly unexpectedIPs?: Json };
  const unwanted = Array.isArray(unexpectedIPs) ? (unexpectedIPs as readonly Json[]) : [];
  // With `*` in the list the core uses an unexpected address when there is no other.
  return { ...own, unexpectedIPs: [...unwanted.filter((range) => range !== '*'), ...PRIVATE_RANGES] };
}

/** Uses the system's resolver unless there are name servers; does not query address families without a route, unless `settings` say so. */
export const checkedDns = (
  servers: readonly (string | JsonObject)[],
  settings: JsonObject = {},
): JsonObject => ({
  queryStrategy: 'UseSystem',
  ...settings,
  tag: DNS_TAG,
  servers: (servers.length > 0 ? servers : ['localhost']).map(checkedServer),
});

/** The admin chose the name servers, so they may be in the machine's own network. */
export const nameServerOutbound: JsonObject = { tag: DNS_TAG, protocol: 'freedom' };
export const nameServerRule: JsonObject = { type: 'field', inboundTag: [DNS_TAG], outboundTag: DNS_TAG };
