// Usage as replies show it: what this panel counted, or what another panel reported if that is more.
import { type Contributed, PanelError, type PluginContext } from '../../../kernel/index.js';
import { type UsageSource, UsageSources } from '../contract.js';
import type { ClientRow } from '../model/row.js';
import type { ClientReply, TrafficRecord } from '../model/schema.js';
import { clientView, trafficOf } from '../model/views.js';

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export class ShownUsage {
  readonly #contributions: PluginContext['contributions'];
  /** Sources that failed: they are not asked again until the next start. */
  readonly #broken = new Set<UsageSource>();

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  get #all(): readonly Contributed<UsageSource>[] {
    return this.#contributions(UsageSources);
  }

  /** Whether another panel reported usage. */
  isReported(clientId: number): boolean {
    return this.#all.some((source) => this.#ask(source, clientId) !== undefined);
  }

  client(row: ClientRow): ClientReply {
    const shown = clientView(row);
    if (shown.traffic) this.raise(shown.traffic);
    return shown;
  }
  traffic(row: ClientRow): TrafficRecord {
    return this.raise(trafficOf(row));
  }

  /** Takes a record that nothing else refers to. */
  raise<T extends { readonly id: number; up: number; down: number }>(record: T): T {
    for (const source of this.#all) {
      const reported = this.#ask(source, record.id);
      if (!reported) continue;
      record.up = Math.max(record.up, reported.up);
      record.down = Math.max(record.down, reported.down);
    }
    return record;
  }

  #ask({ value: source, fault }: Contributed<UsageSource>, clientId: number) {
    if (this.#broken.has(source)) return undefined;
    try {
      const reported = source.usageOf(clientId);
      if (reported === undefined || (isAmount(reported.up) && isAmount(reported.down))) return reported;
      throw new Error('it answered something else than up and down in bytes');
    } catch (error) {
      // Memory that is being loaded again answers 503, which is no fault.
      if (error instanceof PanelError && error.status === 503) return undefined;
      this.#broken.add(source);
      fault('a source of usage', error);
      return undefined;
    }
  }
}
