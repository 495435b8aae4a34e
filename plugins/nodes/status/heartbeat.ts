// Asks every enabled node for its status, every 4.5 seconds, 32 at once.
import { type Clock, type Hooks, type LiveSettings, TimeSlice } from '../../../kernel/index.js';
import type { PanelsApi } from '../../cluster/contract.js';
import { type NodeFlip, nodesFlipped } from '../contract.js';
import type { NodeRow, NodeTarget } from '../model.js';
import type { NodeLive } from '../node-live.js';
import type { NodeStore } from '../node-store.js';
import type { nodeSettings } from '../settings.js';
import type { Descendants } from './descendants.js';
import type { NodeHistory } from './history.js';
import type { Beat } from './node-state.js';
import type { NodeStates } from './node-states.js';
import { HEARTBEAT_MS, PROBE_MS, type Prober } from './prober.js';

/** A node is asked at least every five seconds: the order of a round is not that of the one before, which moves a node by tenths of a second. */
export const HEARTBEAT_EVERY = '4500ms';
const AT_ONCE = 32;
/** The tree below a node changes seldom: it is read with every seventh heartbeat, and when the node comes back. */
const TREE_EVERY = 7;

interface Needs {
  readonly store: NodeStore;
  readonly states: NodeStates;
  readonly prober: Prober;
  readonly descendants: Descendants;
  readonly history: NodeHistory;
  readonly live: NodeLive;
  readonly hooks: Hooks;
  readonly clock: Clock;
  readonly settings: LiveSettings<typeof nodeSettings>;
  readonly panels?: PanelsApi | undefined;
}

export class Heartbeat {
  readonly #needs: Needs;
  #round = 0;

  constructor(needs: Needs) {
    const { store, states, prober, descendants, history, live, hooks, clock, settings, panels } = needs;
    this.#needs = { store, states, prober, descendants, history, live, hooks, clock, settings, panels };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, live } = this.#needs;
    const round = this.#round++;
    const flips: NodeFlip[] = [];
    let turns = false;
    const due = store.list().filter(({ enable }) => enable);
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const node of next) {
        // One after the other: all at once, they would hold the event loop, and so would their answers.
        await new TimeSlice().next();
        if (signal.aborted) return;
        const heard = await this.#ask(node, round, signal).catch((error: unknown) => {
          // The panel stops, and its calls with it.
          if (signal.aborted) return undefined;
          throw error;
        });
        if (!heard) return;
        if (heard.flip) flips.push(heard.flip);
        turns ||= heard.isTurn;
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));
    if (due.length > 0) live.beaten();
    await this.#tell(flips, turns);
  }

  async #ask(node: NodeRow, round: number, signal: AbortSignal): Promise<ReturnType<NodeStates['heard']>> {
    const { store, prober, states, descendants } = this.#needs;
    const target = store.target(node);
    const beat = await prober.beat(target, { timeoutMs: HEARTBEAT_MS, signal });
    const heard = this.#take(node, beat);
    const { status, answeredGuid } = states.of(node.id);
    if (status === 'offline') descendants.forget(node.id);
    // Nodes take turns, so that the trees of all are not read in the same round.
    if (beat.ok && (heard.isTurn || (round + node.id) % TREE_EVERY === 0))
      await descendants.refresh(target, answeredGuid, HEARTBEAT_MS, signal);
    return heard;
  }

  #take(node: NodeRow, beat: Beat): ReturnType<NodeStates['heard']> {
    const { store, states, history, clock, settings } = this.#needs;
    // It may have been changed, disabled or deleted meanwhile: then this is news of something else.
    if (store.find(node.id) !== node) return { flip: undefined, isTurn: false };
    if (beat.ok) history.record(node.id, beat.report);
    return states.heard(node, beat, clock.now(), settings.read().nodeDownThreshold);
  }

  /** Looks at one node now and takes the result into its state, as a heartbeat does. */
  async probe(node: NodeRow): Promise<Beat> {
    const { store, prober, descendants, states, live } = this.#needs;
    const target = store.target(node);
    const beat = await prober.beat(target, { timeoutMs: PROBE_MS, explain: true });
    const { flip, isTurn } = this.#take(node, beat);
    if (beat.ok)
      await descendants.refresh(
        target,
        states.of(node.id).answeredGuid,
        PROBE_MS,
        new AbortController().signal,
      );
    live.beaten();
    await this.#tell(flip ? [flip] : [], isTurn);
    return beat;
  }

  /** Looks at a panel that is not stored, or not as it is stored. */
  test(target: NodeTarget): Promise<Beat> {
    return this.#needs.prober.beat(target, { timeoutMs: PROBE_MS, explain: true });
  }

  async #tell(flips: readonly NodeFlip[], turns: boolean): Promise<void> {
    const { store, states, hooks, clock, panels } = this.#needs;
    // The panel that leads finds it with its next heartbeat, and tells what follows from it once.
    if (panels?.leads === false) return;
    if (turns) await states.flush((id) => store.find(id) !== undefined);
    if (flips.length > 0) hooks.emit(nodesFlipped, { at: clock.now(), flips });
  }
}
