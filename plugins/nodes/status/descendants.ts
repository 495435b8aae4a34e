// The nodes below the nodes of this panel: each panel publishes its own and all that it knows below them, to any depth.
import { int, oneOf, port, shape, type Static, text } from '../../../kernel/index.js';
import { NodeCallError } from '../calls/call-error.js';
import type { NodeCaller } from '../calls/node-caller.js';
import { shortened } from '../calls/reply.js';
import type { NodeTarget } from '../model.js';

export const DescendantReply = shape({
  guid: text(),
  parentGuid: text().description('of the panel that has it as a node'),
  name: text(),
  address: text(),
  scheme: oneOf('http', 'https'),
  port: port(),
  status: oneOf('unknown', 'online', 'offline'),
  lastHeartbeat: int().min(0).description('Unix seconds; 0: never'),
  latencyMs: int().min(0),
  panelVersion: text(),
  engineVersion: text(),
  engineState: text(),
  engineError: text(),
});
export type Descendant = Static<typeof DescendantReply>;

export const MOST_DESCENDANTS = 2_000;
export const MOST_BYTES = 2 * 1024 * 1024;
const GUID = /^[A-Za-z0-9-]{1,64}$/;

const amount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Returns undefined for an entry without a place in the tree. */
function descendantOf(value: unknown): Descendant | undefined {
  const sent = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  const { guid, parentGuid, scheme, status } = sent;
  if (typeof guid !== 'string' || !GUID.test(guid)) return undefined;
  if (typeof parentGuid !== 'string' || !GUID.test(parentGuid)) return undefined;
  const at = amount(sent['port']);
  return {
    guid,
    parentGuid,
    name: shortened(sent['name'], 64),
    address: shortened(sent['address'], 255),
    scheme: scheme === 'http' ? 'http' : 'https',
    port: at >= 1 && at <= 65_535 ? at : 443,
    status: status === 'online' || status === 'offline' ? status : 'unknown',
    lastHeartbeat: amount(sent['lastHeartbeat']),
    latencyMs: amount(sent['latencyMs']),
    panelVersion: shortened(sent['panelVersion'], 64),
    engineVersion: shortened(sent['engineVersion'], 64),
    engineState: shortened(sent['engineState'], 64),
    engineError: shortened(sent['engineError'], 500),
  };
}

/** Entries that hang together below `root`; others, repetitions and loops are left out. */
export function treeBelow(root: string, sent: readonly unknown[]): readonly Descendant[] {
  const waiting = new Map<string, Descendant[]>();
  for (const value of sent.slice(0, MOST_DESCENDANTS)) {
    const entry = descendantOf(value);
    if (!entry) continue;
    const siblings = waiting.get(entry.parentGuid);
    if (siblings) siblings.push(entry);
    else waiting.set(entry.parentGuid, [entry]);
  }
  const found: Descendant[] = [];
  const seen = new Set([root]);
  // The list grows while it is read: parents come before their children.
  for (const guid of seen)
    for (const entry of waiting.get(guid) ?? []) {
      if (seen.has(entry.guid)) continue;
      seen.add(entry.guid);
      found.push(entry);
    }
  return found;
}

export class Descendants {
  readonly #caller: NodeCaller;
  /** by id of the node */
  readonly #below = new Map<number, readonly Descendant[]>();

  constructor({ caller }: { caller: NodeCaller }) {
    this.#caller = caller;
  }

  below(id: number): readonly Descendant[] {
    return this.#below.get(id) ?? [];
  }
  forget(id: number): void {
    this.#below.delete(id);
  }

  /** Reads what a node publishes; after a failure, what it published last is in force until the node is offline. */
  async refresh(target: NodeTarget, guid: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    try {
      const options = { timeoutMs, maxBytes: MOST_BYTES, signal };
      const { obj } = await this.#caller.call(target, 'panel/api/server/descendants', options);
      this.#below.set(target.id, Array.isArray(obj) && guid !== '' ? treeBelow(guid, obj) : []);
    } catch (error) {
      if (!(error instanceof NodeCallError)) throw error;
      // A panel that has no nodes of its own.
      if (error.code === 'missing') this.#below.set(target.id, []);
    }
  }
}
