// Changes outbounds, rules and balancers of a running core. The core cannot replace one of them: outbounds are removed and
// added, rules are appended behind the old ones, which are then removed, the last one first. So the rules that stay at the
// beginning (the API's, those that block private targets) and a last rule for the rest are in force all the time, and no
// failure leaves the core without rules, as a rejected replacement of all rules does.
import { type BaseChange, CoreUnreachable, type JsonObject, NeedsRestart } from '../driver.js';
import { callUnknown } from './failures.js';
import { convertBase, type ConvertedBase } from './convert-base.js';
import type { Needs } from './convert.js';
import type { RoutingApi } from './routing-api.js';

/** The core's gRPC server rejects messages above 4 MiB. */
const SEND_LIMIT = 3 * 1024 * 1024;

type Undo = () => Promise<void>;
export interface NextBase {
  readonly outbounds: readonly JsonObject[];
  /** with unique tags */
  readonly rules: readonly JsonObject[];
  readonly balancers: readonly JsonObject[];
}

const tagOf = ({ tag }: JsonObject): string => String(tag);
const ruleTagOf = ({ ruleTag }: JsonObject): string => String(ruleTag);

/** A rule that moved is in the core twice for a moment, under two tags: `<tag>` and `<tag>~<n>`. */
const plain = (tag: string): string => tag.replace(/~\d+$/, '');
function freeTag(tag: string, taken: ReadonlySet<string>): string {
  let free = tag;
  for (let n = 1; taken.has(free); n++) free = `${tag}~${n}`;
  return free;
}

/** Tags as they were planned, of the rules that a core returns. */
export const plannedTags = (running: readonly string[]): string[] => running.map(plain);

interface RuleChange {
  /** in the core now, to be removed */
  readonly old: readonly string[];
  /** to be appended, with free tags */
  readonly added: readonly JsonObject[];
}

/** Everything behind the first difference is added again. */
export function ruleChange(running: readonly string[], wanted: readonly JsonObject[]): RuleChange {
  const isSame = (tag: string, at: number): boolean => {
    const rule = wanted[at];
    return rule !== undefined && plain(tag) === ruleTagOf(rule);
  };
  const firstOther = running.findIndex((tag, at) => !isSame(tag, at));
  const kept = firstOther === -1 ? running.length : firstOther;
  const taken = new Set(running);
  const added = wanted.slice(kept).map((rule) => {
    const ruleTag = freeTag(ruleTagOf(rule), taken);
    taken.add(ruleTag);
    return { ...rule, ruleTag };
  });
  return { old: running.slice(kept), added };
}

/** In order, each portion below the limit of a message. */
function* portions(messages: readonly Uint8Array[]): Generator<Uint8Array[]> {
  let portion: Uint8Array[] = [];
  let size = 0;
  for (const message of messages) {
    if (message.length > SEND_LIMIT)
      throw new NeedsRestart(`a rule of ${message.length} bytes is too large for a running core`);
    if (size + message.length > SEND_LIMIT) {
      yield portion;
      [portion, size] = [[], 0];
    }
    portion.push(message);
    size += message.length + 8;
  }
  yield portion;
}

/** A panel of another version may have started the core without the service. */
async function known<T>(call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    throw callUnknown(error) ? new NeedsRestart('the core was started without this service') : error;
  });
}

export async function changeBase(
  needs: Pick<Needs, 'binary' | 'folder'>,
  api: RoutingApi,
  next: NextBase,
  change: BaseChange,
): Promise<void> {
  const before = await known(api.outbounds());
  const first = next.outbounds[0] ? tagOf(next.outbounds[0]) : '';
  const { previousFirst } = change;
  const put = new Set(change.put);
  if (previousFirst !== undefined) for (const tag of [first, previousFirst]) put.add(tag);
  const { old, added } = change.rules
    ? ruleChange(await known(api.ruleTags()), next.rules)
    : { old: [], added: [] };
  const balancers: JsonObject[] = [];
  if (change.rules)
    for (const balancer of next.balancers)
      if (!(await api.hasBalancer(tagOf(balancer)))) balancers.push(balancer);
  const converted = await convertBase(needs, {
    outbounds: next.outbounds.filter((outbound) => put.has(tagOf(outbound))),
    rules: added,
    balancers,
  });
  for (const bytes of converted.outbounds.values())
    if (bytes.length > SEND_LIMIT)
      throw new NeedsRestart(`an outbound of ${bytes.length} bytes is too large for a running core`);
  const ruleGroups = [...portions(converted.rules)];

  const undo: Undo[] = [];
  try {
    await putOutbounds(api, { converted, before, first, previousFirst }, undo);
    await addRules(api, converted, ruleGroups, added.map(ruleTagOf), undo);
  } catch (error) {
    // What a core that does not answer has done is not known.
    if (!(error instanceof CoreUnreachable)) for (const step of undo.reverse()) await step();
    throw error;
  }
  for (const tag of [...old].reverse()) await api.removeRule(tag);
  for (const tag of change.remove) await api.removeOutbound(tag);
}

interface Outbounds {
  readonly converted: ConvertedBase;
  /** what the core has */
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly first: string;
  readonly previousFirst: string | undefined;
}

/** New ones come first, then changed ones: nothing may lead to an outbound that is not there yet. */
async function putOutbounds(
  api: RoutingApi,
  { converted, before, first, previousFirst }: Outbounds,
  undo: Undo[],
): Promise<void> {
  const replace = async (tag: string, bytes: Uint8Array | undefined): Promise<void> => {
    await api.removeOutbound(tag);
    if (bytes) await api.addOutbound(tag, bytes);
  };
  const put = async (tag: string, bytes: Uint8Array): Promise<void> => {
    undo.push(() => replace(tag, before.get(tag)));
    await replace(tag, bytes);
  };
  const changesFirst = previousFirst !== undefined;
  const isFirst = (tag: string): boolean => changesFirst && (tag === first || tag === previousFirst);
  const others = [...converted.outbounds].filter(([tag]) => !isFirst(tag));
  for (const [tag, bytes] of others) if (!before.has(tag)) await put(tag, bytes);
  for (const [tag, bytes] of others) if (before.has(tag)) await put(tag, bytes);
  const bytes = converted.outbounds.get(first);
  if (!changesFirst || !bytes) return;
  // While the core has no default outbound, the next one that is added becomes it.
  undo.push(async () => {
    await api.removeOutbound(first);
    await replace(previousFirst, before.get(previousFirst));
    const previous = before.get(first);
    if (previous) await api.addOutbound(first, previous);
  });
  await api.removeOutbound(previousFirst);
  await replace(first, bytes);
  const previous = converted.outbounds.get(previousFirst) ?? before.get(previousFirst);
  if (previous) await api.addOutbound(previousFirst, previous);
}

async function addRules(
  api: RoutingApi,
  { balancers }: ConvertedBase,
  groups: readonly (readonly Uint8Array[])[],
  tags: readonly string[],
  undo: Undo[],
): Promise<void> {
  // A balancer that no rule names does nothing, and there is no call that removes one.
  if (balancers.length > 0) await api.addRules({ rules: [], balancers });
  undo.push(async () => {
    for (const tag of tags) await api.removeRule(tag);
  });
  for (const rules of groups) if (rules.length > 0) await api.addRules({ rules, balancers: [] });
}
