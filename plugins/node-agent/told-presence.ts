// What a central learns about who is online here, and at the nodes of this panel: only what has changed since the position
// that it has. Nothing runs unless a central asks.
import { randomUUID } from 'node:crypto';
import { type Clock, KeyedQueue, TimeSlice } from '../../kernel/index.js';
import type { PresenceApi } from '../traffic/contract.js';
import type { Records } from './records.js';
import type { CentralRow, RecordKind } from './tables.js';

/** Ids in one reply; the others come with the next one. */
const MOST_CHANGES = 50_000;
/** Ids of one look-up. */
const AT_ONCE = 2_500;
/** Who is not of a central is looked up again after this time: it may have become so. */
const STRANGERS_MS = 30_000;

/** Changes at one machine, by the ids of the central. */
export interface ToldMachine {
  readonly guid: string;
  readonly online: readonly number[];
  readonly gone: readonly number[];
  readonly active: readonly number[];
  readonly idle: readonly number[];
}
export interface ToldPresence {
  /** it replaces what was told before */
  readonly isFull: boolean;
  readonly seq: number;
  readonly machines: readonly ToldMachine[];
}

/** What a central knows of one kind at one machine: its ids, by ours. */
type Known = Map<number, number>;
type Key = `${RecordKind} ${string}`;
interface Delta {
  readonly kind: RecordKind;
  readonly guid: string;
  readonly come: ReadonlyMap<number, number>;
  readonly left: readonly number[];
}
interface State {
  seq: number;
  known: Map<Key, Known>;
  /** told after `seq`, and not asked after yet: the reply may be lost */
  waiting: readonly Delta[];
  strangers: Record<RecordKind, Set<number>>;
  strangersSince: number;
}

export class PresenceOfHere {
  readonly #clock: Clock;
  readonly #online: PresenceApi;
  readonly #records: Pick<Records, 'idsAt'>;
  /** Positions are of this process. */
  readonly session = randomUUID().slice(0, 8);
  readonly #states = new Map<number, State>();
  /** A central that has given up a call may ask again while it runs. */
  readonly #queue = new KeyedQueue<number>();

  constructor({
    clock,
    online,
    records,
  }: { clock: Clock; online: PresenceApi; records: Pick<Records, 'idsAt'> }) {
    this.#clock = clock;
    this.#online = online;
    this.#records = records;
  }

  /** `after`: of the last reply that the central has; -1 for none. */
  read(central: CentralRow, after: number): Promise<ToldPresence> {
    return this.#queue.run(central.id, async () => {
      const state = this.#at(central, after);
      const deltas = await this.#changes(central, state);
      state.waiting = deltas;
      const isSame = deltas.length === 0 && state.seq > 0;
      if (isSame) return { isFull: false, seq: state.seq, machines: [] };
      return { isFull: state.seq === 0, seq: state.seq + 1, machines: toldOf(deltas) };
    });
  }

  /** The state that the central has: what it was told last, or before that, or nothing. */
  #at({ id }: CentralRow, after: number): State {
    const known = this.#states.get(id);
    if (known && after === known.seq + 1) {
      for (const delta of known.waiting) apply(known.known, delta);
      known.seq = after;
      known.waiting = [];
    }
    if (known && known.seq > 0 && after === known.seq) return known;
    const fresh: State = {
      seq: 0,
      known: new Map(),
      waiting: [],
      strangers: { client: new Set(), inbound: new Set() },
      strangersSince: this.#clock.now(),
    };
    this.#states.set(id, fresh);
    return fresh;
  }

  async #changes(central: CentralRow, state: State): Promise<Delta[]> {
    const now = this.#clock.now();
    if (Math.abs(now - state.strangersSince) >= STRANGERS_MS) {
      state.strangers = { client: new Set(), inbound: new Set() };
      state.strangersSince = now;
    }
    const deltas: Delta[] = [];
    let room = MOST_CHANGES;
    for (const [kind, byGuid] of [
      ['client', this.#online.onlineByGuid()],
      ['inbound', this.#online.activeInboundsByGuid()],
    ] as const) {
      const guids = new Set(byGuid.keys());
      for (const key of state.known.keys())
        if (key.startsWith(`${kind} `)) guids.add(key.slice(kind.length + 1));
      for (const guid of guids) {
        const delta = await this.#delta(central, state, kind, guid, byGuid.get(guid) ?? [], room);
        if (delta.come.size + delta.left.length > 0) deltas.push(delta);
        room -= delta.come.size + delta.left.length;
      }
    }
    return deltas;
  }

  async #delta(
    central: CentralRow,
    state: State,
    kind: RecordKind,
    guid: string,
    present: readonly number[],
    room: number,
  ): Promise<Delta> {
    const known = state.known.get(`${kind} ${guid}`) ?? new Map<number, number>();
    const strangers = state.strangers[kind];
    const slice = new TimeSlice();
    const isHere = new Set<number>();
    const unknown: number[] = [];
    for (const id of present) {
      if (slice.isOver) await slice.next();
      isHere.add(id);
      if (!known.has(id) && !strangers.has(id)) unknown.push(id);
    }
    const left: number[] = [];
    for (const id of known.keys()) {
      if (slice.isOver) await slice.next();
      if (!isHere.has(id) && left.length < room) left.push(id);
    }
    const come = new Map<number, number>();
    for (let from = 0; from < unknown.length && come.size + left.length < room; from += AT_ONCE) {
      const ids = unknown.slice(from, from + AT_ONCE);
      const theirs = await this.#records.idsAt(central.id, kind, ids);
      for (const id of ids) {
        const told = theirs.get(id);
        if (told === undefined) strangers.add(id);
        else if (come.size + left.length < room) come.set(id, told);
      }
    }
    return { kind, guid, come, left: left.map((id) => known.get(id) ?? 0) };
  }
}

function apply(state: Map<Key, Known>, { kind, guid, come, left }: Delta): void {
  const key: Key = `${kind} ${guid}`;
  const known = state.get(key) ?? new Map<number, number>();
  const gone = new Set(left);
  if (gone.size > 0) for (const [id, told] of known) if (gone.has(told)) known.delete(id);
  for (const [id, told] of come) known.set(id, told);
  if (known.size > 0) state.set(key, known);
  else state.delete(key);
}

function toldOf(deltas: readonly Delta[]): ToldMachine[] {
  const machines = new Map<string, ToldMachine>();
  for (const { kind, guid, come, left } of deltas) {
    const told = machines.get(guid) ?? { guid, online: [], gone: [], active: [], idle: [] };
    const now = [...come.values()];
    machines.set(
      guid,
      kind === 'client' ? { ...told, online: now, gone: left } : { ...told, active: now, idle: left },
    );
  }
  return [...machines.values()];
}
