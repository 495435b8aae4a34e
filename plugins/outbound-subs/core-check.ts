// Has the core test the outbounds of a list before they are stored: one that it rejects would stop its whole config.
import { type CorePart, type EngineApi, OWN_OUTBOUNDS } from '../engine/contract.js';
import type { LeftOutList } from './left-out.js';
import { ListProblem } from './list-problem.js';
import { outboundOf, type StoredOutbound } from './stored-outbound.js';
import { messageOf } from '../../kernel/index.js';

/** The engine finds a few culprits at a time; those that it had no time for are tested again without the known ones. */
const MOST_ROUNDS = 5;
const UNTESTED = 'not tested';

export class CoreCheck {
  readonly #engine: EngineApi;

  constructor({ engine }: { engine: EngineApi }) {
    this.#engine = engine;
  }

  /** Resolves with those that the core takes. Rejects with a ListProblem when it cannot be asked. */
  async accepted(list: readonly StoredOutbound[], leftOut: LeftOutList): Promise<StoredOutbound[]> {
    let left = list.filter(({ tag }) => !OWN_OUTBOUNDS.includes(tag));
    for (let round = 1; left.length > 0; round++) {
      const parts = new Map<CorePart, StoredOutbound>(
        left.map((outbound) => [{ outbound: outboundOf(outbound) }, outbound] as const),
      );
      const problems = await this.#problems([...parts.keys()]);
      if (problems.length === 0) return left;
      const isLast = round === MOST_ROUNDS;
      const out = new Set<StoredOutbound>();
      for (const { part, reason } of problems) {
        if (!part) throw new ListProblem(`the core rejects its config also without the list: ${reason}`);
        const outbound = parts.get(part);
        if (!outbound || (reason.startsWith(UNTESTED) && !isLast)) continue;
        out.add(outbound);
        leftOut.add(outbound.name, `the core does not take it: ${reason}`);
      }
      // In the last round nothing is left that was not tested together.
      left = left.filter((outbound) => !out.has(outbound));
      if (isLast) return left;
    }
    return left;
  }

  async #problems(parts: readonly CorePart[]) {
    try {
      return (await this.#engine.preview('outbound-subs', parts)).problems;
    } catch (error) {
      throw new ListProblem(`the core could not test the list: ${messageOf(error)}`);
    }
  }
}
