// Deletes retired devices at the service, in the background. A device that an outbound still uses waits.
import { type Database, type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { DeviceStore } from './device-store.js';
import type { TunnelOutbound } from './tunnel-outbound.js';
import type { TunnelService } from './tunnel-service.js';

/** Calls in one run. */
const MOST_CALLS = 10;
/** With a run each hour: two days. */
export const MOST_FAILURES = 48;

interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly outbound: TunnelOutbound;
  readonly store: DeviceStore;
  readonly service: TunnelService;
}

export class Forgetting {
  readonly #needs: Needs;
  readonly #queue = new SerialQueue();

  constructor({ db, log, outbound, store, service }: Needs) {
    this.#needs = { db, log, outbound, store, service };
  }

  /** Begins a run; its failures are only logged. */
  begin(): void {
    void this.run().catch((error: unknown) =>
      this.#needs.log.warn('retired devices are still at the tunnel service', { reason: messageOf(error) }),
    );
  }

  run(): Promise<void> {
    return this.#queue.run(() => this.#forget());
  }

  async #forget(): Promise<void> {
    const { db, log, outbound, store, service } = this.#needs;
    const retired = await store.list('retired');
    const using = outbound.usage();
    const unused = retired.filter(({ account }) => using(account.private_key).length === 0);
    for (const device of unused.slice(0, MOST_CALLS))
      try {
        await service.remove(device.account);
        await db.write((tx) => store.remove(tx, device.id));
        log.info('a retired device is deleted at the tunnel service', { device: device.id });
      } catch (error) {
        const isLast = device.failures + 1 >= MOST_FAILURES;
        log.warn(
          isLast
            ? 'a retired device stays at the tunnel service; giving up'
            : 'a retired device is still at the tunnel service; retrying later',
          { device: device.id, reason: messageOf(error) },
        );
        await db.write((tx) => (isLast ? store.remove(tx, device.id) : store.failed(tx, device)));
      }
  }
}
