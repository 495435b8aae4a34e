// Runs the checks of all plugins.
import { type Log, messageOf, type PluginContext, TimeSlice } from '../../kernel/index.js';
import { type Checked, type Invariant, Invariants, type InvariantsApi } from './contract.js';

const MOST_SHOWN = 20;

export class AllChecks implements InvariantsApi {
  readonly #contributions: PluginContext['contributions'];
  readonly #log: Log;

  constructor({ contributions, log }: { contributions: PluginContext['contributions']; log: Log }) {
    this.#contributions = contributions;
    this.#log = log;
  }

  async run(signal: AbortSignal, report: (checked: Checked) => void = () => undefined) {
    const all: Checked[] = [];
    for (const { plugin, value } of this.#contributions(Invariants)) {
      signal.throwIfAborted();
      const checked = { plugin, name: value.name, fix: value.fix, ...(await this.#one(value, signal)) };
      all.push(checked);
      report(checked);
    }
    return all;
  }

  async #one(invariant: Invariant, signal: AbortSignal) {
    const found: string[] = [];
    let count = 0;
    const slice = new TimeSlice();
    const add = (sentence: string): void => {
      count += 1;
      if (count <= MOST_SHOWN) found.push(sentence);
    };
    const pause = (): void | Promise<void> => {
      signal.throwIfAborted();
      return slice.isOver ? slice.next() : undefined;
    };
    try {
      const skipped = (await invariant.check({ add, pause, signal })) ?? '';
      return { found, count, skipped };
    } catch (error) {
      signal.throwIfAborted();
      this.#log.error('a check of the data failed', { invariant: invariant.name, error });
      return { found, count, skipped: `the check failed: ${messageOf(error)}` };
    }
  }
}
