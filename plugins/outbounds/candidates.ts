// Chooses what can be tested, each outbound with those that it dials through.
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { JsonObject } from '../engine/contract.js';
import { isFreedom, isReverse, protocolOf, referencesIn, tagOf } from './outbound-json.js';

export interface Candidate {
  readonly tag: string;
  readonly outbound: JsonObject;
  /** itself, and those that it dials through */
  readonly members: readonly JsonObject[];
}
export interface Refused {
  readonly tag: string;
  readonly error: string;
}

/** What leads nowhere, or not through another server. */
const NOT_TESTED: Readonly<Record<string, string>> = {
  blackhole: 'it leads nowhere',
  block: 'it leads nowhere',
  freedom: 'it leads out directly, through no server',
  direct: 'it leads out directly, through no server',
  dns: 'it answers questions for names only',
  loopback: 'it leads back to the rules of the core',
};
const LONGEST_CHAIN = 20;

/** The members of its chain, or why there is none. */
function chainOf(outbound: JsonObject, known: ReadonlyMap<string, JsonObject>): JsonObject[] | string {
  const found = new Map<string, JsonObject>();
  const visit = (at: JsonObject, above: readonly string[]): string | undefined => {
    const tag = tagOf(at);
    if (above.includes(tag)) return 'the outbounds dial through each other in a circle';
    if (above.length > LONGEST_CHAIN) return `it dials through more than ${LONGEST_CHAIN} outbounds`;
    if (found.has(tag)) return undefined;
    for (const { tag: next, path } of referencesIn(at)) {
      const member = known.get(next);
      if (!member) return `${path}: no outbound has the tag ${JSON.stringify(next)}; add it to allOutbounds`;
      const problem = visit(member, [...above, tag]);
      if (problem !== undefined) return problem.includes(': ') ? problem : `${path}: ${problem}`;
    }
    found.set(tag, at);
    return undefined;
  };
  return visit(outbound, []) ?? [...found.values()];
}

function refusal(outbound: JsonObject, isTaken: boolean): string | undefined {
  const tag = tagOf(outbound);
  if (tag === '') return 'tag: it needs a tag, a text';
  if (isTaken) return 'tag: another outbound of this call has the same one';
  const protocol = protocolOf(outbound);
  if (protocol === '') return 'protocol: it needs a protocol, a text';
  const reason = NOT_TESTED[protocol];
  if (reason !== undefined) return `protocol: ${protocol} cannot be tested: ${reason}`;
  return undefined;
}

/** @param all outbounds that others may dial through; one of the same tag among `outbounds` takes precedence */
export async function candidatesOf(
  guard: Pick<CoreGuardApi, 'examine'>,
  outbounds: readonly JsonObject[],
  all: readonly JsonObject[],
): Promise<(Candidate | Refused)[]> {
  const known = new Map([...all, ...outbounds].map((outbound) => [tagOf(outbound), outbound]));
  const problems = new Map<JsonObject, Promise<string | undefined>>();
  const problemOf = (member: JsonObject): Promise<string | undefined> => {
    const asked = problems.get(member) ?? guardProblem(guard, member);
    problems.set(member, asked);
    return asked;
  };
  const seen = new Set<string>();
  const found: (Candidate | Refused)[] = [];
  for (const outbound of outbounds) {
    const tag = tagOf(outbound);
    const error = refusal(outbound, seen.has(tag));
    seen.add(tag);
    found.push(error === undefined ? await withChain(outbound, known, problemOf) : { tag, error });
  }
  return found;
}

async function withChain(
  outbound: JsonObject,
  known: ReadonlyMap<string, JsonObject>,
  problemOf: (member: JsonObject) => Promise<string | undefined>,
): Promise<Candidate | Refused> {
  const tag = tagOf(outbound);
  const members = chainOf(outbound, known);
  if (typeof members === 'string') return { tag, error: members };
  for (const member of members) {
    const problem = await problemOf(member);
    if (problem === undefined) continue;
    return { tag, error: member === outbound ? problem : `outbound ${tagOf(member)}: ${problem}` };
  }
  return { tag, outbound, members };
}

async function guardProblem(
  guard: Pick<CoreGuardApi, 'examine'>,
  outbound: JsonObject,
): Promise<string | undefined> {
  if (isReverse(outbound))
    return 'settings.reverse: a test would accept connections from its server, which the core does already';
  const [finding] = await guard.examine(outbound, { inbounds: [] });
  return finding?.message;
}

/** Whether the panel reaches its servers as the core does. */
export const isDialedDirectly = ({ outbound, members }: Candidate): boolean =>
  members.every((member) => member === outbound || isFreedom(member));
