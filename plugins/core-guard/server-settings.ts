// Settings with which an inbound blocks or crashes the whole core, Xray-core 26.3.27, each with its place in the core's source
// (github.com/xtls/xray-core at v1.260327.0). The core's own test run accepts them.
import { endsWith } from './config-files.js';
import type { Place } from './walk.js';

/** Seconds; 68 years. */
const LONGEST = 2 ** 31 - 1;

/** Returns what is wrong with this key of an inbound. */
export function serverProblem({ keys, value, path }: Place): string | undefined {
  // transport/internet/tls/ech.go:31 ApplyECH, which servers run as well: the core asks that name server while it adds
  // the inbound. Through `echSockopt` the query waits for the core itself, which accepts no other change then.
  if (endsWith(keys, ['echconfiglist']) && !keys.includes('downloadsettings'))
    return typeof value === 'string' && value.includes('://')
      ? 'the core would ask this name server while it adds the inbound; what clients need belongs into tlsSettings.settings'
      : undefined;
  // transport/internet/tls/config.go:96 setupOcspTicker: more nanoseconds than fit into 63 bits crash the process
  if (endsWith(keys, ['ocspstapling']))
    return typeof value === 'number' && value > LONGEST
      ? `it must be at most ${LONGEST}: more seconds crash the core`
      : undefined;
  // Written by the panel: Go reads a list of another spelling into the same users.
  if (keys.length === 2 && endsWith(keys, ['settings', 'clients']) && path !== 'settings.clients')
    return 'the core takes this key for clients, which the panel writes';
  return undefined;
}
