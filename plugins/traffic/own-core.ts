// Where several panels share a database, each may run a core. Counters of one core begin at zero and say nothing of
// another, so each core has a stream of its own, named after its panel; it goes on when the lead or the core is handed over.
import type { PanelsApi } from '../cluster/contract.js';
import type { CoreCounters } from '../engine/contract.js';
import type { SourceReading } from './source-reader.js';

/** No source has a name with a slash, so no stream of a source begins like this. */
export const CORE_STREAMS = 'core/';

export class OwnCore {
  /** name of the stream; undefined where there is one panel: its readings are the baselines */
  readonly stream: string | undefined;
  readonly #panels: Pick<PanelsApi, 'leads'> | undefined;

  constructor({ panels }: { panels: Pick<PanelsApi, 'name' | 'leads'> | undefined }) {
    this.stream = panels?.name ? `${CORE_STREAMS}${panels.name}` : undefined;
    this.#panels = panels;
  }

  /** Whether this panel applies limits and begins periods: by what all cores have counted. */
  get leads(): boolean {
    return this.#panels?.leads ?? true;
  }

  /** The counters as a reading of the stream; undefined where there is one panel. */
  reading({ epoch, users }: Pick<CoreCounters, 'epoch' | 'users'>): SourceReading | undefined {
    return this.stream === undefined ? undefined : { stream: this.stream, epoch, users };
  }
}
