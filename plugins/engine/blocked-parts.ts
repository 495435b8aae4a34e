// Leaves out the parts of the config that core-guard rejects; checked each time that the config is composed.
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { Part } from './claims.js';
import type { CorePart } from './contract.js';
import type { JsonObject } from './driver.js';

/**
 * Leaves out an inbound, a rule or a section. Replaces an outbound by one that blocks all: without its tag the core would send its
 * traffic to another outbound.
 */
export async function withoutBlocked(
  composed: readonly Part[],
  guard: CoreGuardApi,
): Promise<{ parts: Part[]; blocked: string[] }> {
  const inbounds = composed.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.config] : []));
  const parts: Part[] = [];
  const blocked: string[] = [];
  for (const part of composed) {
    const checked = checkedPart(part.entry);
    const problem = checked && (await guard.problem(checked.config, { inbounds }));
    if (problem === undefined) parts.push(part);
    else {
      blocked.push(`${checked?.name}: ${problem}`);
      if ('outbound' in part.entry)
        parts.push({
          ...part,
          entry: { outbound: { tag: checked?.config['tag'] ?? '', protocol: 'blackhole' } },
        });
    }
  }
  return { parts, blocked };
}

/** Returns what the guard checks of a part; a name server gives users no access to this machine. */
function checkedPart(part: CorePart): { readonly name: string; readonly config: JsonObject } | undefined {
  if ('inbound' in part) return { name: part.inbound.tag, config: part.inbound.config };
  if ('outbound' in part)
    return { name: `outbound ${String(part.outbound['tag'] ?? '')}`, config: part.outbound };
  if ('rule' in part) return { name: `rule ${JSON.stringify(part.rule)}`, config: part.rule };
  return 'section' in part ? { name: part.section, config: { [part.section]: part.value } } : undefined;
}
