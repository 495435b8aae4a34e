// What happened since the panel started, counted from events of other plugins.
import type { ClientUsage } from '../clients/contract.js';
import type { Metric } from './contract.js';

type Labels = Readonly<Record<string, string>>;

export class Counted {
  up = 0;
  down = 0;
  polls = 0;
  /** Unix ms of the last poll that the core answered; 0 for none */
  lastPollAt = 0;
  coreFailures = 0;
  readonly depleted = { quota: 0, expiry: 0 };
  readonly logins = { ok: 0, failed: 0, blocked: 0 };

  poll(at: number, usage: readonly ClientUsage[]): void {
    this.polls++;
    this.lastPollAt = at;
    for (const { up, down } of usage) {
      this.up += up;
      this.down += down;
    }
  }

  list(): Metric[] {
    const counter = (
      name: string,
      help: string,
      label: string,
      values: () => Readonly<Record<string, number>>,
    ): Metric => ({
      name,
      help,
      type: 'counter',
      labels: [label],
      collect: () =>
        Object.entries(values()).map(([of, value]) => ({ value, labels: { [label]: of } satisfies Labels })),
    });
    return [
      counter(
        'weir_traffic_bytes_total',
        'Bytes of clients that were counted since the panel started.',
        'direction',
        () => ({
          up: this.up,
          down: this.down,
        }),
      ),
      counter(
        'weir_clients_depleted_total',
        'Clients that reached a limit since the panel started.',
        'cause',
        () => this.depleted,
      ),
      counter(
        'weir_logins_total',
        'Attempts to log in since the panel started.',
        'result',
        () => this.logins,
      ),
      {
        name: 'weir_polls_total',
        help: 'Readings of the counters of the core that were stored since the panel started.',
        type: 'counter',
        collect: () => [{ value: this.polls }],
      },
      {
        name: 'weir_last_poll_timestamp_seconds',
        help: 'Unix time of the last reading that was stored; 0 for none.',
        type: 'gauge',
        collect: () => [{ value: this.lastPollAt / 1000 }],
      },
      {
        name: 'weir_core_failures_total',
        help: 'How often the core failed since the panel started.',
        type: 'counter',
        collect: () => [{ value: this.coreFailures }],
      },
    ];
  }
}
