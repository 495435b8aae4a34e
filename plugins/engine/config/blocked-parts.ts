// Leaves out the parts of the config that core-guard or a check of another plugin rejects; checked each time that the
// config is composed.
import { TimeSlice } from '../../../kernel/index.js';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import { nowhere, type Openness } from './base-config.js';
import type { Part } from './claims.js';
import type { CorePart } from '../contract.js';
import type { JsonObject } from '../driver.js';
import type { PartProblems } from './part-problems.js';
import { privateHost } from './private-hosts.js';

interface Needs {
  readonly guard: CoreGuardApi;
  readonly checks?: Pick<PartProblems, 'of' | 'madeOf'> | undefined;
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
 * Leaves out an inbound, a rule, a section or a name server. Replaces an outbound or a balancer by one that blocks all:
 * without its tag the core would send its traffic to another outbound.
 */
export async function withoutBlocked(
  composed: readonly Part[],
  { guard, checks, open }: Needs,
): Promise<{ parts: Part[]; blocked: Blocked[] }> {
  const inbounds = composed.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.config] : []));
  const parts: Part[] = [];
  const blocked: Blocked[] = [];
  const slice = new TimeSlice();
  for (const part of composed) {
    if (slice.isOver) await slice.next();
    const { name, config } = namedPart(part.entry);
    const reason =
      (await guard.problem(config, { inbounds })) ??
      privateHost(part.entry, open) ??
      (await checks?.of(part.entry));
    if (reason === undefined) {
      const madeOf = await checks?.madeOf(part.entry);
      parts.push(madeOf === undefined ? part : { ...part, madeOf });
    } else {
      blocked.push({ part, name, reason });
      if ('outbound' in part.entry)
        parts.push({
          ...part,
          entry: { ...part.entry, outbound: { tag: config['tag'] ?? '', protocol: 'blackhole' } },
        });
      // The core rejects a config with a rule for a balancer that is not there.
      if ('balancer' in part.entry)
        parts.push({
          ...part,
          entry: { balancer: { tag: config['tag'] ?? '', selector: [nowhere(open)] } },
        });
    }
  }
  return { parts, blocked };
}

/** Returns a part's name, and what the guard checks of it. */
function namedPart(part: CorePart): { readonly name: string; readonly config: JsonObject } {
  if ('inbound' in part) return { name: part.inbound.tag, config: part.inbound.config };
  if ('outbound' in part)
    return { name: `outbound ${String(part.outbound['tag'] ?? '')}`, config: part.outbound };
  if ('rule' in part) return { name: `rule ${JSON.stringify(part.rule)}`, config: part.rule };
  if ('section' in part) return { name: part.section, config: { [part.section]: part.value } };
  if ('balancer' in part)
    return { name: `balancer ${String(part.balancer['tag'] ?? '')}`, config: part.balancer };
  const { nameServer } = part;
  return {
    name: `name server ${JSON.stringify(nameServer)}`,
    config: typeof nameServer === 'string' ? { address: nameServer } : nameServer,
  };
}
