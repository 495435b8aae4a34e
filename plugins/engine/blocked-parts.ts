// Leaves out the parts of the config that core-guard rejects; checked each time that the config is composed.
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { Openness } from './base-config.js';
import type { Part } from './claims.js';
import type { CorePart } from './contract.js';
import type { JsonObject } from './driver.js';
import { privateHost } from './private-hosts.js';

interface Needs {
  readonly guard: CoreGuardApi;
  readonly open: Openness;
}
/** A part that must not reach the core. */
export interface Blocked {
  readonly part: Part;
  /** of the part, for messages */
  readonly name: string;
  readonly reason: string;
}

/**
 * Leaves out an inbound, a rule or a section. Replaces an outbound by one that blocks all: without its tag the core would
 * send its traffic to another outbound.
 */
export async function withoutBlocked(
  composed: readonly Part[],
  { guard, open }: Needs,
): Promise<{ parts: Part[]; blocked: Blocked[] }> {
  const inbounds = composed.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.config] : []));
  const parts: Part[] = [];
  const blocked: Blocked[] = [];
  for (const part of composed) {
    const checked = checkedPart(part.entry);
    const reason =
      checked && ((await guard.problem(checked.config, { inbounds })) ?? privateHost(part.entry, open));
    if (reason === undefined) parts.push(part);
    else {
      blocked.push({ part, name: checked?.name ?? '', reason });
      if ('outbound' in part.entry)
        parts.push({
          ...part,
          entry: { ...part.entry, outbound: { tag: checked?.config['tag'] ?? '', protocol: 'blackhole' } },
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
