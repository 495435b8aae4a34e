// Where several panels each run a core: from where clients with a `limitIp` are connected at each of them, so that a limit
// holds for all cores together. Only the beginning and the end of a use are written, for all clients in one write.
import { type Clock, type Database, type Projection, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { repeatedWrite, type PanelsApi } from '../cluster/contract.js';
import type { AddressFeed } from './address-feed.js';
import { LIVE_MS, type Sightings } from './sightings.js';
import type { AddressTables } from './tables.js';

/** The use of a network by a client. */
interface Use {
  /** the first address of it */
  readonly address: string;
  /** Unix ms of its beginning */
  readonly since: number;
}
export interface SharedPlace extends Use {
  readonly network: string;
}
/** By client and network. */
type Uses = Map<number, Map<string, Use>>;
/** By panel. */
type State = Map<string, Uses>;
type Begun = readonly [clientId: number, network: string, address: string, since: number];
type Ended = readonly [clientId: number, network: string];
type Change =
  | { readonly panel: string; readonly begun: readonly Begun[]; readonly ended: readonly Ended[] }
  | { readonly gone: readonly string[] };

/** Rows of one write: other writes wait for it. */
const AT_ONCE = 5_000;
const COLUMNS = {
  id: 'text',
  panel: 'text',
  client_id: 'integer',
  network: 'text',
  address: 'text',
  since: 'integer',
} as const;
const NO_USES: ReadonlyMap<string, Use> = new Map();

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly tables: AddressTables;
  readonly clients: Pick<ClientsApi, 'byId'>;
  readonly sightings: Pick<Sightings, 'of'>;
  readonly feed: Pick<AddressFeed, 'changes'>;
  readonly panels?: Pick<PanelsApi, 'name' | 'hasOwnCore' | 'others'> | undefined;
}

export class SharedPlaces {
  readonly #needs: Needs;
  /** undefined where this panel shares nothing */
  readonly #memory: Projection<State, Change> | undefined;
  #state: State = new Map();
  /** Unix ms of the start of this panel */
  #began = 0;
  /** position in the feed until which all is told */
  #after = 0;
  /** clients with a new place at another panel, since `takeChanged` */
  #changed = new Set<number>();

  constructor({ db, clock, tables, clients, sightings, feed, panels }: Needs) {
    this.#needs = { db, clock, tables, clients, sightings, feed, panels };
    if (!panels?.hasOwnCore) return;
    this.#memory = db.projection<State, Change>({
      load: async () => {
        const state: State = new Map();
        for (const row of await tables.live.findAll()) {
          const { panel, clientId, network, address, since } = row.get();
          begin(state, panel, [clientId, network, address, since]);
        }
        this.#state = state;
        this.#began ||= clock.now();
        return state;
      },
      apply: (state, change) => {
        if ('gone' in change) {
          for (const panel of change.gone) state.delete(panel);
          return;
        }
        for (const begun of change.begun) {
          begin(state, change.panel, begun);
          if (change.panel !== panels.name) this.#changed.add(begun[0]);
        }
        for (const ended of change.ended) end(state, change.panel, ended);
      },
    });
  }

  /** Whether other panels may have places of the same clients. */
  get isOn(): boolean {
    return this.#memory !== undefined;
  }

  /** From where this client is connected at other panels that live. */
  *elsewhere(clientId: number): Iterable<SharedPlace> {
    if (!this.#memory) return;
    for (const name of this.#needs.panels?.others ?? [])
      for (const [network, use] of this.#state.get(name)?.get(clientId) ?? NO_USES) yield { network, ...use };
  }

  /** Returns the clients that have a new place at another panel since the last call. */
  takeChanged(): ReadonlySet<number> {
    const changed = this.#changed;
    if (changed.size > 0) this.#changed = new Set();
    return changed;
  }

  /** Tells the other panels what has begun or ended here. Looks only at what is new in the feed, and at what is told. */
  async run(): Promise<void> {
    const { panels, feed } = this.#needs;
    if (!this.#memory || !panels) return;
    const isAlone = panels.others.length === 0;
    const told = this.#memory.state.get(panels.name) ?? (new Map() as Uses);
    const ids = new Set(told.keys());
    const slice = new TimeSlice();
    // Who comes later is told everything. What ends before that is told at once: it would take a place there.
    let after = isAlone ? 0 : this.#after;
    for (let more = !isAlone; more; ) {
      if (slice.isOver) await slice.next();
      const page = feed.changes(after, AT_ONCE);
      for (const { clientId } of page.seen) ids.add(clientId);
      ({ seq: after, more } = page);
    }
    const begun: Begun[] = [];
    const ended: Ended[] = [];
    for (const id of ids) {
      if (slice.isOver) await slice.next();
      const before = told.get(id) ?? NO_USES;
      const now = this.#usesOf(id, before);
      for (const [network, { address, since }] of now)
        if (!isAlone && before.get(network)?.since !== since) begun.push([id, network, address, since]);
      for (const network of before.keys()) if (!now.has(network)) ended.push([id, network]);
    }
    for (let from = 0; from < Math.max(begun.length, ended.length); from += AT_ONCE)
      await this.#write(begun.slice(from, from + AT_ONCE), ended.slice(from, from + AT_ONCE));
    this.#after = after;
  }

  /** What takes places of the limit now, here or at nodes that report here. */
  #usesOf(clientId: number, told: ReadonlyMap<string, Use>): ReadonlyMap<string, Use> {
    const { clients, clock, sightings } = this.#needs;
    const client = clients.byId(clientId);
    if (!client?.enable || client.limitIp === 0) return NO_USES;
    const oldest = clock.now() - LIVE_MS;
    const uses = new Map<string, Use>();
    for (const { network, address, since, lastSeen, panel } of sightings.of(clientId)) {
      if (lastSeen <= oldest) continue;
      // At the start it was read from a table of all panels: another one may have seen it, and it says nothing of this use.
      const isRead = panel === '' && since < this.#began;
      const own = isRead ? told.get(network)?.since : since;
      if (own === undefined && lastSeen < this.#began) continue;
      const begun = own ?? this.#began;
      uses.set(network, { address, since: Math.min(begun, uses.get(network)?.since ?? begun) });
    }
    return uses;
  }

  async #write(begun: readonly Begun[], ended: readonly Ended[]): Promise<void> {
    const { db, panels } = this.#needs;
    const panel = panels?.name ?? '';
    const idOf = (clientId: number, network: string) => `${panel} ${clientId} ${network}`;
    await repeatedWrite(db, async (tx) => {
      if (ended.length > 0)
        await tx.run('DELETE FROM addresses_live WHERE id IN (:ids)', {
          ids: ended.map(([clientId, network]) => idOf(clientId, network)),
        });
      if (begun.length > 0)
        await insert(
          tx,
          begun.map(([clientId, network, address, since]) => [
            idOf(clientId, network),
            panel,
            clientId,
            network,
            address,
            since,
          ]),
        );
      if (this.#memory) tx.apply(this.#memory, { panel, begun, ended });
    });
  }

  /** Forgets panels that do not live: one that comes back tells its own again, and until then what it told before would count. */
  async prune(): Promise<void> {
    const { db, panels } = this.#needs;
    const memory = this.#memory;
    if (!memory || !panels) return;
    const gone = [...memory.state.keys()].filter(
      (name) => name !== panels.name && !panels.others.includes(name),
    );
    if (gone.length === 0) return;
    await repeatedWrite(db, async (tx) => {
      await tx.run('DELETE FROM addresses_live WHERE panel IN (:gone)', { gone });
      tx.apply(memory, { gone });
    });
  }
}

/** Leaves out clients that were deleted meanwhile. */
async function insert(tx: Tx, places: readonly unknown[]): Promise<void> {
  const { rows, incoming, onConflict } = tx.sql;
  const names = Object.keys(COLUMNS);
  const set = ['address', 'since'].map((column) => `${column} = ${incoming(column)}`).join(', ');
  await tx.run(
    `INSERT INTO addresses_live (${names.join(', ')})
     SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${rows(COLUMNS)} AS j JOIN clients ON clients.id = j.client_id WHERE true
     ${onConflict('id', set)}`,
    { rows: JSON.stringify(places) },
  );
}

function begin(state: State, panel: string, [clientId, network, address, since]: Begun): void {
  let uses = state.get(panel);
  if (!uses) state.set(panel, (uses = new Map()));
  let networks = uses.get(clientId);
  if (!networks) uses.set(clientId, (networks = new Map()));
  networks.set(network, { address, since });
}

function end(state: State, panel: string, [clientId, network]: Ended): void {
  const uses = state.get(panel);
  const networks = uses?.get(clientId);
  if (!uses || !networks?.delete(network)) return;
  if (networks.size === 0) uses.delete(clientId);
  if (uses.size === 0) state.delete(panel);
}
