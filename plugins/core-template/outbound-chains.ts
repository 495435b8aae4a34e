// Outbounds that lead to others: through a dialer, or back through the rules. The core follows them for each connection, and
// a circle without an end: measured, one connection takes a hundred MiB a second.
import type { Issue } from '../../kernel/index.js';
import type { Json, JsonObject } from '../engine/contract.js';

/** What outbounds of the template lead to. */
export interface Ways {
  readonly outbounds: readonly (readonly [JsonObject, path: string])[];
  readonly rules: readonly JsonObject[];
  readonly balancers: readonly JsonObject[];
}
interface Next {
  /** of the graph's nodes */
  readonly nodes: readonly string[];
  /** the key that says so */
  readonly key: string;
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
const listOf = (value: Json | undefined): string[] =>
  [value].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []));
const isSet = (value: Json | undefined): value is Json =>
  value !== undefined && value !== null && value !== '';

const outboundNode = (tag: Json): string => `outbound ${String(tag)}`;
const balancerNode = (tag: Json): string => `balancer ${String(tag)}`;

/** Keys of a rule that ask nothing of a connection, beside its networks. */
const NO_CONDITIONS = new Set(['type', 'ruleTag', 'outboundTag', 'balancerTag', 'inboundTag', 'network']);

/** A rule, as far as it matters here. */
interface Turn {
  /** inbounds that it is for; undefined for all */
  readonly inbounds: ReadonlySet<string> | undefined;
  /** whether nothing of its inbounds gets past it */
  readonly isLast: boolean;
  readonly node: string;
}
function turnOf(rule: JsonObject): Turn {
  const { inboundTag, outboundTag, balancerTag, network } = rule as Readonly<Record<string, Json>>;
  const networks = listOf(network).map((name) => name.trim().toLowerCase());
  return {
    inbounds: isSet(inboundTag) ? new Set(listOf(inboundTag)) : undefined,
    isLast:
      Object.keys(rule).every((key) => NO_CONDITIONS.has(key)) &&
      (networks.length === 0 || (networks.includes('tcp') && networks.includes('udp'))),
    node: isSet(outboundTag) ? outboundNode(outboundTag) : balancerNode(balancerTag ?? ''),
  };
}

class Graph {
  readonly #byNode: ReadonlyMap<string, JsonObject>;
  readonly #balancers: ReadonlyMap<string, JsonObject>;
  readonly #turns: readonly Turn[];
  readonly #first: string;

  constructor({ outbounds, rules, balancers }: Ways) {
    this.#byNode = new Map(outbounds.map(([outbound]) => [outboundNode(outbound['tag'] ?? ''), outbound]));
    this.#balancers = new Map(balancers.map((balancer) => [balancerNode(balancer['tag'] ?? ''), balancer]));
    this.#turns = rules.map(turnOf);
    this.#first = outboundNode(outbounds[0]?.[0]['tag'] ?? '');
  }

  /** Undefined where the way ends. */
  next(node: string): Next | undefined {
    const outbound = this.#byNode.get(node);
    if (outbound) return this.#after(outbound);
    const { selector, fallbackTag } = (this.#balancers.get(node) ?? {}) as Readonly<Record<string, Json>>;
    const beginnings = listOf(selector).map(outboundNode);
    const chosen = [...this.#byNode.keys()].filter((one) => beginnings.some((text) => one.startsWith(text)));
    return { nodes: isSet(fallbackTag) ? [...chosen, outboundNode(fallbackTag)] : chosen, key: '' };
  }

  #after(outbound: JsonObject): Next | undefined {
    const { dialerProxy } = objectOf(objectOf(outbound['streamSettings'])['sockopt']) as {
      dialerProxy?: Json;
    };
    if (isSet(dialerProxy))
      return { nodes: [outboundNode(dialerProxy)], key: 'streamSettings.sockopt.dialerProxy' };
    const { tag } = objectOf(outbound['proxySettings']) as { tag?: Json };
    if (isSet(tag)) return { nodes: [outboundNode(tag)], key: 'proxySettings.tag' };
    if (String(outbound['protocol']).toLowerCase() !== 'loopback') return undefined;
    const { inboundTag = '' } = objectOf(outbound['settings']) as { inboundTag?: Json };
    return { nodes: this.#routed(String(inboundTag)), key: 'settings.inboundTag' };
  }

  /** Where rules may send connections of this inbound. */
  #routed(inbound: string): string[] {
    const nodes = new Set<string>();
    for (const { inbounds, isLast, node } of this.#turns) {
      if (inbounds && !inbounds.has(inbound)) continue;
      nodes.add(node);
      if (isLast) return [...nodes];
    }
    return [...nodes, this.#first];
  }
}

/** Returns the nodes that can be reached from themselves (Tarjan's strongly connected components). */
function circles(graph: Graph, starts: readonly string[]): Set<string> {
  const found = new Set<string>();
  const order = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const visit = (node: string): number => {
    const at = order.size;
    order.set(node, at);
    open.push(node);
    isOpen.add(node);
    let lowest = at;
    for (const one of graph.next(node)?.nodes ?? []) {
      if (one === node) found.add(node);
      const known = order.get(one);
      if (known === undefined) lowest = Math.min(lowest, visit(one));
      else if (isOpen.has(one)) lowest = Math.min(lowest, known);
    }
    if (lowest < at) return lowest;
    const members = open.splice(open.indexOf(node));
    for (const member of members) {
      isOpen.delete(member);
      if (members.length > 1) found.add(member);
    }
    return lowest;
  };
  for (const start of starts) if (!order.has(start)) visit(start);
  return found;
}

export function chainIssues(ways: Ways): Issue[] {
  const graph = new Graph(ways);
  const nodes = ways.outbounds.map(([{ tag = '' }]) => outboundNode(tag));
  const found = circles(graph, nodes);
  return ways.outbounds.flatMap(([, path], at) => {
    const node = nodes[at] ?? '';
    const next = found.has(node) ? graph.next(node) : undefined;
    if (!next) return [];
    const message =
      next.key === 'settings.inboundTag'
        ? 'the rules may send what comes from there to this outbound again, in a circle; add a rule for this inboundTag before the others'
        : 'the outbounds dial through each other in a circle';
    return [{ path: `${path}.${next.key}`, message: `${path}.${next.key}: ${message}` }];
  });
}
