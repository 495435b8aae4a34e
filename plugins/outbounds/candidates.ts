// Chooses what can be tested, each outbound with those that it dials through.
import { TimeSlice } from '../../kernel/index.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { JsonObject } from '../engine/contract.js';
import {
  isFreedom,
  isReverse,
  protocolOf,
  type Reference,
  referencesIn,
  tagOf,
  valuesIn,
} from './outbound-json.js';

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
/** Of all outbounds in the config of one test core. */
const MOST_VALUES = 50_000;

interface Known {
  readonly known: ReadonlyMap<string, JsonObject>;
  readonly referencesOf: (outbound: JsonObject) => readonly Reference[];
}
/** Calls the function once for each outbound. */
function once<T>(ask: (outbound: JsonObject) => T): (outbound: JsonObject) => T {
  const answers = new Map<JsonObject, { readonly answer: T }>();
  return (outbound) => {
    const { answer } = answers.get(outbound) ?? { answer: ask(outbound) };
    answers.set(outbound, { answer });
    return answer;
  };
}

/** The members of its chain, or why there is none. */
function chainOf(outbound: JsonObject, { known, referencesOf }: Known): JsonObject[] | string {
  const found = new Map<string, JsonObject>();
  const visit = (at: JsonObject, above: readonly string[]): string | undefined => {
    const tag = tagOf(at);
    if (above.includes(tag)) return 'the outbounds dial through each other in a circle';
    if (above.length + found.size > LONGEST_CHAIN)
      return `it dials through more than ${LONGEST_CHAIN} outbounds`;
    if (found.has(tag)) return undefined;
    for (const { tag: next, path } of referencesOf(at)) {
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
  guard: Pick<CoreGuardApi, 'problem'>,
  outbounds: readonly JsonObject[],
  all: readonly JsonObject[],
): Promise<(Candidate | Refused)[]> {
  const known = new Map([...all, ...outbounds].map((outbound) => [tagOf(outbound), outbound]));
  const referencesOf = once(referencesIn);
  const problemOf = once((member) => memberProblem(guard, member));
  const slice = new TimeSlice();
  const seen = new Set<string>();
  const members = new Set<JsonObject>();
  let values = 0;
  const found: (Candidate | Refused)[] = [];
  for (const outbound of outbounds) {
    const tag = tagOf(outbound);
    const chain = refusal(outbound, seen.has(tag)) ?? chainOf(outbound, { known, referencesOf });
    seen.add(tag);
    if (typeof chain === 'string') {
      found.push({ tag, error: chain });
      continue;
    }
    const added = chain.filter((member) => !members.has(member));
    const size = added.reduce((sum, member) => sum + valuesIn(member), values);
    let error =
      size > MOST_VALUES ? 'those before it leave no room for it; test it in another call' : undefined;
    for (const member of error === undefined ? chain : []) {
      if (slice.isOver) await slice.next();
      const problem = await problemOf(member);
      if (problem !== undefined)
        error ??= member === outbound ? problem : `outbound ${tagOf(member)}: ${problem}`;
    }
    if (error !== undefined) {
      found.push({ tag, error });
      continue;
    }
    values = size;
    for (const member of added) members.add(member);
    found.push({ tag, outbound, members: chain });
  }
  return found;
}

async function memberProblem(
  guard: Pick<CoreGuardApi, 'problem'>,
  outbound: JsonObject,
): Promise<string | undefined> {
  if (isReverse(outbound))
    return 'settings.reverse: a test would accept connections from its server, which the core does already';
  return guard.problem(outbound, { inbounds: [] });
}

/** Whether the panel reaches its servers as the core does. */
export const isDialedDirectly = ({ outbound, members }: Candidate): boolean =>
  members.every((member) => member === outbound || isFreedom(member));
