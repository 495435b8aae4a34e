// Keeps a node of the older kind by the API that such a panel has: records become its calls, in the order in which it can take them.
import { messageOf, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi, ProgramUsersApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type {
  DesiredRecord,
  NodeProtocol,
  RecordChange,
  RecordKey,
  RecordResult,
} from '../node-sync/contract.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import { Refusal } from './calls.js';
import type { ClientChanges } from './client-changes.js';
import { differing } from './differences.js';
import type { InboundChanges } from './inbound-changes.js';
import type { NameStore } from './names.js';
import { type OlderUsage, PROTOCOL } from './older-usage.js';
import type { RemoteStates } from './remote-state.js';
import type { Snapshot } from './snapshot.js';
import type { NameRow } from './tables.js';
import { isOn, jsonCall, wireTag } from './wire.js';

/** Of more clients of one inbound, the whole inbound is one call. */
const MOST_SINGLE = 32;
const AT_ONCE = 4;
const LOOK_MS = 2_000;

interface Needs {
  readonly nodes: NodesApi;
  readonly identity: PanelIdentityApi;
  readonly inbounds: InboundsApi;
  readonly clients: ClientsApi;
  readonly users: ProgramUsersApi;
  readonly names: NameStore;
  readonly states: RemoteStates;
  readonly inboundChanges: InboundChanges;
  readonly clientChanges: ClientChanges;
  readonly usage: OlderUsage;
}
/** One call of `apply`. */
interface Round {
  readonly node: NodeEntry;
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
  readonly results: RecordResult[];
  /** rows to store at its end */
  readonly named: Map<string, NameRow>;
}

const periodOf = ({ value }: RecordChange): number => Number(value?.['period'] ?? 0);
const keyOf = ({ kind, id }: RecordChange): RecordKey => ({ kind: kind as RecordKey['kind'], id });

export class OlderProtocol implements NodeProtocol {
  readonly name = PROTOCOL;
  readonly #needs: Needs;

  constructor({
    nodes,
    identity,
    inbounds,
    clients,
    users,
    names,
    states,
    inboundChanges,
    clientChanges,
    usage,
  }: Needs) {
    this.#needs = {
      ...{ nodes, identity, inbounds, clients, users, names, states },
      ...{ inboundChanges, clientChanges, usage },
    };
  }

  /** A panel with a version and a core, whose refusals have no code as ours have. */
  readonly speaks = async ({ id }: NodeEntry): Promise<boolean> => {
    const { obj } = await this.#needs.nodes.call(id, 'panel/api/server/status', { timeoutMs: LOOK_MS });
    const { panelVersion, panelGuid } = (obj ?? {}) as Readonly<Record<string, unknown>>;
    return typeof panelVersion === 'string' && panelVersion !== '' && typeof panelGuid === 'string';
  };

  readonly problem = (nodeId: number): string => this.#needs.usage.problem(nodeId);

  readonly apply = async (
    node: NodeEntry,
    changes: readonly RecordChange[],
    signal: AbortSignal,
  ): Promise<readonly RecordResult[]> => {
    const { states } = this.#needs;
    await this.#nameAll(node, changes);
    const round: Round = {
      node,
      snapshot: await states.current(node.id),
      signal,
      results: [],
      named: new Map(),
    };
    try {
      await this.#each(
        round,
        1,
        changes.filter(({ kind, value }) => kind === 'inbound' && !value),
        (one) => this.#removeInbound(round, one),
      );
      await this.#each(
        round,
        AT_ONCE,
        changes.filter(({ kind, value }) => kind === 'client' && !value),
        (one) => this.#removeClient(round, one),
      );
      const pushed = new Set<number>();
      await this.#each(
        round,
        1,
        changes.filter(({ kind, value }) => kind === 'inbound' && value),
        async (one) => {
          await this.#putInbound(round, one.id, pushed);
          pushed.add(one.id);
        },
      );
      await this.#putClients(
        round,
        changes.filter(({ kind, value }) => kind === 'client' && value),
        pushed,
      );
    } catch (error) {
      // What the node has taken counts, and the others wait.
      if (round.results.length === 0) throw error;
    } finally {
      await this.#needs.names.save([...round.named.values()]);
    }
    return round.results;
  };

  /** Names are stored before anything is sent under them. */
  async #nameAll({ id: nodeId }: NodeEntry, changes: readonly RecordChange[]): Promise<void> {
    const { names } = this.#needs;
    const rows = changes.flatMap((change): NameRow[] => {
      if (!change.value) return [];
      const { kind, id } = keyOf(change);
      const name =
        kind === 'inbound' ? wireTag(String(change.value['tag']), nodeId) : String(change.value['email']);
      const known = names.get(nodeId, kind, id);
      if (known?.name === name) return [];
      const row = { nodeId, kind, id, name, previous: known?.name ?? '', seen: '' };
      return [{ ...row, period: known?.period ?? -1 }];
    });
    await names.save(rows);
  }

  /** Does something with each of them, several at once; a refusal is the result of that one. */
  async #each(
    { node, results, signal }: Round,
    atOnce: number,
    changes: readonly RecordChange[],
    act: (change: RecordChange) => Promise<void>,
  ): Promise<void> {
    const next = changes.values();
    const slice = new TimeSlice();
    const work = async (): Promise<void> => {
      for (const change of next) {
        if (slice.isOver) await slice.next();
        if (signal.aborted) return;
        const told = { ...keyOf(change), version: change.version };
        try {
          await act(change);
          results.push({ ...told, refused: '' });
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          this.#needs.states.sendAnyway(node.id, change.id);
          results.push({ ...told, refused: messageOf(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, changes.length) }, work));
  }

  async #removeInbound({ node, snapshot }: Round, { id, release }: RecordChange): Promise<void> {
    // What is given back to the node stays there.
    if (!release) await this.#needs.inboundChanges.remove(node, id, snapshot);
    await this.#needs.names.drop(node.id, 'inbound', [id]);
  }

  async #removeClient({ node, snapshot }: Round, { id, release }: RecordChange): Promise<void> {
    const { names, clientChanges, states } = this.#needs;
    const name = names.get(node.id, 'client', id);
    if (name && !release) await clientChanges.remove(node, name, snapshot);
    states.sendAnyway(node.id, id);
    await names.drop(node.id, 'client', [id]);
  }

  /** With all its clients, whose names are stored first. `pushed` are those that this round has sent already. */
  async #putInbound(
    { node, snapshot, named }: Round,
    id: number,
    pushed: ReadonlySet<number>,
  ): Promise<void> {
    const { inboundChanges, clientChanges, names, users, clients, inbounds, states } = this.#needs;
    const slice = new TimeSlice();
    const unnamed: NameRow[] = [];
    /** what the node has of each client when it has this inbound; undefined where it lacks another one */
    const digests: [clientId: number, digest: string | undefined][] = [];
    for (const clientId of users.attached(id)) {
      if (slice.isOver) await slice.next();
      const row = clients.byId(clientId);
      if (!row) continue;
      const name = { nodeId: node.id, kind: 'client', id: clientId, name: row.email } as const;
      if (!names.get(node.id, 'client', clientId))
        unnamed.push({ ...name, previous: '', period: -1, seen: '' });
      const own = row.inboundIds.filter((one) => isOn(node, inbounds.get(one)));
      const isWhole = own.every((one) => one === id || pushed.has(one));
      digests.push([clientId, isWhole ? clientChanges.digest(row, own) : undefined]);
    }
    await names.save(unnamed);
    await inboundChanges.put(node, id, snapshot);
    const known = names.get(node.id, 'inbound', id);
    if (known) named.set(`inbound.${id}`, { ...known, previous: '', period: 0, seen: '' });
    for (const [clientId, digest] of digests)
      if (digest === undefined) states.sendAnyway(node.id, clientId);
      else states.took(node.id, clientId, digest);
  }

  async #putClients(round: Round, changes: readonly RecordChange[], pushed: Set<number>): Promise<void> {
    const { node, snapshot } = round;
    const { inboundChanges } = this.#needs;
    const many = new Map<number, number>();
    for (const change of changes)
      if (this.#mustSend(round, change, pushed))
        for (const id of change.inboundIds ?? []) many.set(id, (many.get(id) ?? 0) + 1);
    for (const [id, count] of many)
      if (count > MOST_SINGLE && !pushed.has(id) && inboundChanges.remote(node.id, id, snapshot)) {
        // A refusal is told for each client then.
        await this.#putInbound(round, id, pushed).then(
          () => pushed.add(id),
          (error: unknown) => {
            if (!(error instanceof Refusal)) throw error;
          },
        );
      }
    await this.#each(round, AT_ONCE, changes, (change) => this.#putClient(round, change, pushed));
  }

  /** Whether it needs a call of its own: a rename and a new period do, and what the node has not taken with its inbounds. */
  #mustSend({ node }: Round, change: RecordChange, pushed: ReadonlySet<number>): boolean {
    const { names, clientChanges, states } = this.#needs;
    const { previous = '', period = -1 } = names.get(node.id, 'client', change.id) ?? {};
    if (previous !== '' || (period >= 0 && period < periodOf(change))) return true;
    const inboundIds = change.inboundIds ?? [];
    if (inboundIds.length > 0 && inboundIds.every((id) => pushed.has(id))) return false;
    const row = clientChanges.row(change.id);
    return !row || states.taken(node.id, change.id) !== clientChanges.digest(row, inboundIds);
  }

  async #putClient(round: Round, change: RecordChange, pushed: ReadonlySet<number>): Promise<void> {
    const { node, snapshot, named } = round;
    const { names, clientChanges, states } = this.#needs;
    const row = clientChanges.row(change.id);
    // Deleted meanwhile: a newer version says so.
    if (!row) return;
    const inboundIds = change.inboundIds ?? [];
    const known = names.get(node.id, 'client', change.id);
    if (this.#mustSend(round, change, pushed)) {
      const isNewPeriod = known !== undefined && known.period >= 0 && known.period < periodOf(change);
      await clientChanges.put(node, row, inboundIds, isNewPeriod, snapshot);
    }
    states.took(node.id, change.id, clientChanges.digest(row, inboundIds));
    if (known)
      named.set(`client.${change.id}`, { ...known, previous: '', period: periodOf(change), seen: '' });
  }

  readonly compare = async (
    node: NodeEntry,
    desired: readonly DesiredRecord[],
  ): Promise<readonly RecordKey[]> => {
    const { states, names, inbounds, clients, inboundChanges } = this.#needs;
    const { snapshot } = await states.read(node.id, 30_000);
    const found = await differing(node, desired, snapshot, { names, inbounds, clients, inboundChanges });
    for (const { kind, id } of found) if (kind === 'client') states.sendAnyway(node.id, id);
    return found;
  };

  readonly report = async (node: NodeEntry, clientIds: readonly number[]): Promise<void> => {
    const { nodes, clients, identity, names } = this.#needs;
    const traffics = clientIds.flatMap((id) => {
      const row = clients.byId(id);
      const email = names.get(node.id, 'client', id)?.name;
      return row && email !== undefined
        ? [{ email, up: row.up + row.elsewhereUp, down: row.down + row.elsewhereDown }]
        : [];
    });
    if (traffics.length === 0) return;
    const body = { masterGuid: identity.guid, traffics };
    await nodes.call(node.id, 'panel/api/inbounds/pushClientTraffics', {
      ...jsonCall(body),
      timeoutMs: 10_000,
    });
  };
}
