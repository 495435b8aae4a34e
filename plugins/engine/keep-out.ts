// Parts of the core's config that must not reach the core, judged each time that the config is composed.
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { CorePart } from './contract.js';
import type { JsonObject } from './driver.js';

/**
 * An inbound or a rule is left out. An outbound is replaced by one that lets nothing through: without its tag the core
 * would send what belongs there out by another way.
 */
export async function keepOut(
  composed: readonly CorePart[],
  guard: CoreGuardApi,
): Promise<{ parts: CorePart[]; keptOut: string[] }> {
  const inbounds = composed.flatMap((part) => ('inbound' in part ? [part.inbound.config] : []));
  const parts: CorePart[] = [];
  const keptOut: string[] = [];
  for (const part of composed) {
    const [what, config] = nameOf(part);
    const problem = await guard.problem(config, { inbounds });
    if (problem === undefined) parts.push(part);
    else {
      keptOut.push(`${what}: ${problem}`);
      if ('outbound' in part) parts.push({ outbound: { tag: config['tag'] ?? '', protocol: 'blackhole' } });
    }
  }
  return { parts, keptOut };
}

function nameOf(part: CorePart): [what: string, config: JsonObject] {
  if ('inbound' in part) return [part.inbound.tag, part.inbound.config];
  if ('outbound' in part) return [`outbound ${String(part.outbound['tag'] ?? '')}`, part.outbound];
  return [`rule ${JSON.stringify(part.rule)}`, part.rule];
}
