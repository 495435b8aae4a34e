// Tags of the panel's own outbounds and inbounds in the core. One of them lets the core's DNS out unchecked: users whose
// traffic is given its tag, or is sent there, reach private targets by name.
import { CORE_API_TAG, OWN_TAG_PREFIX } from './contract.js';
import type { Place } from './walk.js';

/** infra/conf: keys that name an outbound, an inbound or a balancer */
const TAG_KEYS = new Set(['tag', 'inboundtag', 'outboundtag', 'balancertag', 'dialerproxy', 'fallbacktag']);

const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).flatMap((text) =>
    typeof text === 'string' ? text.split(',').map((part) => part.trim()) : [],
  );

/** Returns what is wrong with a key that names the panel's own tags. */
export function ownTagProblem({ key, value }: Place): string | undefined {
  const texts = textsIn(value);
  if (texts.includes(CORE_API_TAG)) return `${CORE_API_TAG} is the core's own API; choose another tag`;
  // app/proxyman/outbound/outbound.go Select: all outbounds whose tags begin with it
  if (key === 'selector') {
    const wide = texts.find((text) => OWN_TAG_PREFIX.startsWith(text) || text.startsWith(OWN_TAG_PREFIX));
    return wide === undefined
      ? undefined
      : `${JSON.stringify(wide)} takes in the panel's own outbounds, whose tags begin with ${OWN_TAG_PREFIX}; write more of the tags that you mean`;
  }
  const own = TAG_KEYS.has(key) ? texts.find((text) => text.startsWith(OWN_TAG_PREFIX)) : undefined;
  return own === undefined
    ? undefined
    : `tags that begin with ${OWN_TAG_PREFIX} belong to the panel, and ${own} is one; choose another`;
}
