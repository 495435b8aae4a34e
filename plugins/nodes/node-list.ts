// Nodes as others see them: their records with states, problems and figures, and the tree below them.
import type { Principal, Tx } from '../../kernel/index.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { NodeCaller, NodeCallOptions } from './calls/node-caller.js';
import { NodeCallError } from './calls/call-error.js';
import type { NodeReply } from './calls/reply.js';
import type { NodeEntry, NodesApi } from './contract.js';
import { type Figures, NO_FIGURES } from './figures.js';
import { type NodeRow, NEW_NODE } from './model.js';
import { factsOf, nodeVersion, type NodeStore } from './node-store.js';
import {
  type Descendant,
  type Descendants,
  MOST_BYTES as MOST_DESCENDANT_BYTES,
  MOST_DESCENDANTS,
} from './status/descendants.js';
import { NO_STATE } from './status/node-state.js';
import type { NodeStates } from './status/node-states.js';
import { isAboutIdentity, type NodeProblem, problemsOf } from './status/problems.js';

interface Needs {
  readonly store: NodeStore;
  readonly states: NodeStates;
  readonly figures: Figures;
  readonly descendants: Descendants;
  readonly identity: PanelIdentityApi;
  readonly caller: NodeCaller;
}

type NamesByGuid = ReadonlyMap<string, readonly (readonly [id: number, name: string])[]>;

export class NodeList implements NodesApi {
  readonly #needs: Needs;

  constructor({ store, states, figures, descendants, identity, caller }: Needs) {
    this.#needs = { store, states, figures, descendants, identity, caller };
  }

  list(): readonly NodeEntry[] {
    const names = this.#namesByGuid();
    return this.#needs.store.list().map((row) => this.#entry(row, this.#problems(row, names)));
  }
  get(id: number): NodeEntry | undefined {
    const row = this.#needs.store.find(id);
    return row && this.#entry(row, this.#problems(row, this.#namesByGuid()));
  }
  byGuid(guid: string): NodeEntry | undefined {
    const found = guid === '' ? [] : this.list().filter((node) => node.guid === guid);
    return found.length === 1 ? found[0] : undefined;
  }

  below(id: number): readonly string[] {
    const { states, store, identity, descendants } = this.#needs;
    const below = descendants.below(id);
    if (below.length === 0) return [];
    const direct = new Set([identity.guid, ...store.list().map((row) => states.of(row.id).answeredGuid)]);
    return below.map(({ guid }) => guid).filter((guid) => !direct.has(guid));
  }

  async call(id: number, path: string, options?: NodeCallOptions): Promise<NodeReply> {
    const { store, caller } = this.#needs;
    const row = store.find(id);
    if (!row) throw new NodeCallError('here', `there is no node ${id}`);
    if (!row.enable) throw new NodeCallError('here', `the node ${row.name} is disabled`);
    return caller.call(store.target(row), path, options);
  }

  selectTags(tx: Tx, id: number, tags: (before: readonly string[]) => readonly string[], who: Principal) {
    return this.#needs.store.selectTags(tx, id, tags, who);
  }

  #entry(row: NodeRow, problems: readonly NodeProblem[]): NodeEntry {
    const { status, guid } = this.#needs.states.of(row.id);
    return {
      ...factsOf(row),
      status,
      guid,
      ...{
        isSure: guid !== '' && !problems.some(isAboutIdentity),
        isLoop: problems.some(({ code }) => code === 'loop'),
      },
    };
  }

  /** Names of nodes by the guid that answers there. One that has another guid is no copy: it may lie, and the real panel gets its changes all the same. */
  #namesByGuid(): NamesByGuid {
    const names = new Map<string, (readonly [number, string])[]>();
    for (const { id, name } of this.#needs.store.list()) {
      const { answeredGuid, guid } = this.#needs.states.of(id);
      if (guid !== answeredGuid) continue;
      const known = names.get(answeredGuid);
      if (known) known.push([id, name]);
      else names.set(answeredGuid, [[id, name]]);
    }
    return names;
  }

  #problems({ id }: NodeRow, names: NamesByGuid): NodeProblem[] {
    const { states, identity, descendants } = this.#needs;
    const state = states.of(id);
    // The one that was there first keeps the guid: whoever is added later may lie.
    const isBefore = (other: number, guid: string) => other < id || (other !== id && guid !== state.guid);
    return problemsOf(id, state, {
      ownGuid: identity.guid,
      sameGuid: (guid) =>
        (names.get(guid) ?? []).filter(([other]) => isBefore(other, guid)).map(([, name]) => name),
      hasLoop: () => descendants.below(id).some(({ guid }) => guid === identity.guid),
    });
  }

  /** Direct nodes, then those below them, each panel once. */
  shown() {
    const { figures } = this.#needs;
    const names = this.#namesByGuid();
    const direct = this.#needs.store.list().map((row) => this.#shown(row, names));
    const found = this.#below();
    const figuresOf = found.length > 0 ? figures.below() : () => NO_FIGURES;
    const below = found.map(({ address, ...entry }) => ({
      ...TRANSITIVE,
      ...figuresOf(entry.guid),
      ...entry,
      address,
    }));
    return [...direct, ...below];
  }
  /** Throws NOT_FOUND. */
  shownOne(id: number) {
    return this.#shown(this.#needs.store.require(id), this.#namesByGuid());
  }

  #shown(row: NodeRow, names: NamesByGuid) {
    const { states, figures, identity } = this.#needs;
    const { failures: _, answeredGuid: _answered, ...state } = states.of(row.id);
    const problems = this.#problems(row, names);
    const lie = problems.find(isAboutIdentity)?.message ?? '';
    return {
      ...factsOf(row),
      ...state,
      ...figures.of(this.#entry(row, problems)),
      parentGuid: identity.guid,
      apiToken: '',
      transitive: false,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
      lastError: state.lastError || lie,
      problems,
      version: nodeVersion.of(row),
    };
  }

  /** Those below online nodes, without this panel and without those that are direct. */
  #below(): readonly Descendant[] {
    const { store, states, descendants, identity } = this.#needs;
    const online = store.list().filter(({ id, enable }) => enable && states.of(id).status === 'online');
    const seen = new Set([identity.guid, ...online.map(({ id }) => states.of(id).answeredGuid)]);
    const found: Descendant[] = [];
    for (const { id } of online)
      for (const entry of descendants.below(id)) {
        if (seen.has(entry.guid)) continue;
        seen.add(entry.guid);
        found.push(entry);
      }
    return found;
  }

  /** What this panel publishes to the panels above it. */
  published(): readonly Descendant[] {
    const { store, states, identity } = this.#needs;
    const direct = store.list().flatMap((row): Descendant[] => {
      const state = states.of(row.id);
      if (!row.enable || state.guid === '' || state.answeredGuid === identity.guid) return [];
      const { lastHeartbeat, latencyMs, panelVersion, engineVersion, engineState, engineError } = state;
      const facts = { lastHeartbeat, latencyMs, panelVersion, engineVersion, engineState, engineError };
      const { name, address, scheme, port } = row;
      const { status, answeredGuid: guid } = state;
      return [{ guid, parentGuid: identity.guid, name, address, scheme, port, status, ...facts }];
    });
    return readable([...direct, ...this.#below()]);
  }
}

/** As many as the panel above this one reads: nodes may say too much of those below them. */
function readable(all: readonly Descendant[]): readonly Descendant[] {
  let bytes = 0;
  const end = all.slice(0, MOST_DESCENDANTS).findIndex((entry) => {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    return bytes > MOST_DESCENDANT_BYTES - ENVELOPE_BYTES;
  });
  return all.slice(0, end < 0 ? MOST_DESCENDANTS : end);
}
const ENVELOPE_BYTES = 1_024;

const { failures: _failures, answeredGuid: _answeredGuid, ...noState } = NO_STATE;
/** A node below a node: read-only here, so it has no settings. */
const TRANSITIVE = {
  ...NEW_NODE,
  ...noState,
  id: 0,
  apiToken: '',
  hasApiToken: false,
  transitive: true,
  createdAt: 0,
  updatedAt: 0,
  ...NO_FIGURES,
  problems: [],
  version: '',
};
