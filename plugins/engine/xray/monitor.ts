// How the core is: figures of its runtime, its probes of outbounds, and the end of a core that does not answer.
import type { CoreFigures, DriverMonitor, OutboundHealth } from '../driver.js';
import { CoreRefused, CoreUnreachable } from '../driver.js';
import { eachMessage } from './each-message.js';
import type { CoreConnection } from './launch.js';
import { decode } from './messages.js';
import { STATUS } from './status.js';

/** The core's errors may have the text of a whole reply. */
const LONGEST_ERROR = 500;

const isUnknownService = (error: unknown): boolean =>
  error instanceof CoreRefused &&
  (error.cause as { readonly code?: number } | undefined)?.code === STATUS.UNIMPLEMENTED;

export class XrayMonitor implements DriverMonitor {
  readonly #core: () => CoreConnection;

  /** @param core throws CoreUnreachable when none runs */
  constructor(core: () => CoreConnection) {
    this.#core = core;
  }

  async figures(timeout: number): Promise<CoreFigures> {
    return figuresIn(await this.#core().api.systemStats(timeout));
  }

  async outbounds(timeout: number): Promise<OutboundHealth[] | undefined> {
    const reply = await this.#core()
      .api.outboundStatus(timeout)
      .catch((error: unknown) => {
        if (isUnknownService(error)) return undefined;
        throw error;
      });
    if (reply === undefined) return undefined;
    const found: OutboundHealth[] = [];
    let result: Uint8Array = new Uint8Array();
    await eachMessage(reply, 1, (bytes) => (result = bytes));
    await eachMessage(result, 1, (bytes) => {
      const status = decode('xray.core.app.observatory.OutboundStatus', bytes);
      found.push({
        tag: status.outboundTag,
        alive: status.alive,
        delay: status.delay,
        lastError: status.lastErrorReason.slice(0, LONGEST_ERROR),
        lastSeen: status.lastSeenTime,
        lastTry: status.lastTryTime,
      });
    });
    return found;
  }

  reconnect(): void {
    try {
      this.#core().api.reconnect();
    } catch (error) {
      // It exited a moment ago.
      if (!(error instanceof CoreUnreachable)) throw error;
    }
  }

  kill(): Promise<void> {
    return this.#core().process.kill();
  }
}

function figuresIn(reply: Uint8Array): CoreFigures {
  const stats = decode('xray.app.stats.command.SysStatsResponse', reply);
  return {
    heapBytes: stats.alloc,
    systemBytes: stats.sys,
    liveObjects: stats.liveObjects,
    collections: stats.numGC,
    pausedNs: stats.pauseTotalNs,
    goroutines: stats.numGoroutine,
    uptime: stats.uptime,
  };
}
