// One look at a node: its status, the time that took, and the difference of the clocks.
import type { Clock, PluginContext } from '../../../kernel/index.js';
import { NodeCallError } from '../calls/call-error.js';
import { StatusForms } from '../contract.js';
import type { NodeCaller } from '../calls/node-caller.js';
import type { NodeTarget } from '../model.js';
import type { Beat } from './node-state.js';
import { readStatus } from './status-report.js';

/** A status has a few kilobytes. */
const MOST_BYTES = 256 * 1024;
export const HEARTBEAT_MS = 4_000;
export const PROBE_MS = 6_000;
const LONGEST_ERROR = 500;

/** Seconds that the other clock is ahead, by the header Date, which has whole seconds; 0 where there is none. */
function offsetOf(headers: Headers, now: number, ms: number): number {
  const there = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(there)) return 0;
  const offset = (there + 500 - (now - ms / 2)) / 1000;
  return Math.abs(offset) < 1.5 ? 0 : Math.round(offset);
}

export class Prober {
  readonly #caller: NodeCaller;
  readonly #clock: Clock;

  readonly #contributions: PluginContext['contributions'];

  constructor({
    caller,
    clock,
    contributions,
  }: { caller: NodeCaller; clock: Clock } & Pick<PluginContext, 'contributions'>) {
    this.#caller = caller;
    this.#clock = clock;
    this.#contributions = contributions;
  }

  #inOurForm(obj: unknown): unknown {
    if (typeof obj !== 'object' || obj === null || Array.isArray(obj)) return obj;
    return this.#contributions(StatusForms).reduce(
      (status, { value: form }) => form(status),
      obj as Readonly<Record<string, unknown>>,
    );
  }

  /** Never rejects, unless the signal aborts. `explain` spends another connection on why it failed. */
  async beat(
    target: NodeTarget,
    { timeoutMs, explain = false, signal }: { timeoutMs: number; explain?: boolean; signal?: AbortSignal },
  ): Promise<Beat> {
    try {
      const options = { timeoutMs, maxBytes: MOST_BYTES, ...(signal && { signal }) };
      const { obj, headers, ms } = await this.#caller.call(target, 'panel/api/server/status', options);
      const clockOffset = offsetOf(headers, this.#clock.now(), ms);
      return { ok: true, report: readStatus(this.#inOurForm(obj)), latencyMs: Math.round(ms), clockOffset };
    } catch (error) {
      if (!(error instanceof NodeCallError)) throw error;
      const told = explain ? await this.#caller.explained(error, target, timeoutMs) : error;
      return { ok: false, error: told.message.slice(0, LONGEST_ERROR) };
    }
  }
}
