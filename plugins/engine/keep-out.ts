// Parts of the core's config that must not reach the core, judged each time that the config is composed.
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { Part } from './claims.js';
import type { CorePart } from './contract.js';
import type { JsonObject } from './driver.js';

/**
 * An inbound or a rule is left out. An outbound is replaced by one that lets nothing through: without its tag the core
 * would send what belongs there out by another way.
 */
export async function keepOut(
  composed: readonly Part[],
  guard: CoreGuardApi,
): Promise<{ parts: Part[]; keptOut: string[] }> {
  const inbounds = composed.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.config] : []));
  const parts: Part[] = [];
  const keptOut: string[] = [];
  for (const part of composed) {
    const judged = judgedPart(part.entry);
    const problem = judged && (await guard.problem(judged.config, { inbounds }));
    if (problem === undefined) parts.push(part);
    else {
      keptOut.push(`${judged?.name}: ${problem}`);
      if ('outbound' in part.entry)
        parts.push({
          ...part,
          entry: { outbound: { tag: judged?.config['tag'] ?? '', protocol: 'blackhole' } },
        });
    }
  }
  return { parts, keptOut };
}

/** What of a part the guard looks at; a name server opens nothing on this machine to users. */
function judgedPart(part: CorePart): { readonly name: string; readonly config: JsonObject } | undefined {
  if ('inbound' in part) return { name: part.inbound.tag, config: part.inbound.config };
  if ('outbound' in part)
    return { name: `outbound ${String(part.outbound['tag'] ?? '')}`, config: part.outbound };
  return 'rule' in part ? { name: `rule ${JSON.stringify(part.rule)}`, config: part.rule } : undefined;
}
