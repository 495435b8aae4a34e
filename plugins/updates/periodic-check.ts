// Looks for a new release from time to time, and says once for each that it is there.
import { type Clock, type Hooks, type LiveSettings, type Log, messageOf } from '../../kernel/index.js';
import { updateFound } from './contract.js';
import type { IndexSource } from './index-source.js';
import { nextRelease, platformHere, releasesOf } from './release-index.js';
import type { SeenIndexes } from './seen-indexes.js';
import type { updateSettings } from './settings.js';
import type { ThisInstallation } from './this-installation.js';

const HOUR_MS = 60 * 60_000;

interface Needs {
  readonly settings: LiveSettings<typeof updateSettings>;
  readonly source: IndexSource;
  readonly installation: ThisInstallation;
  readonly seen: SeenIndexes;
  readonly hooks: Hooks;
  readonly clock: Clock;
  readonly log: Log;
}

export class PeriodicCheck {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Asks where it is due. */
  async look(): Promise<void> {
    const { settings, source, seen, clock, log } = this.#needs;
    const { updateCheckHours } = settings.read();
    if (updateCheckHours === 0 || (await source.whyNotSetUp()) !== undefined) return;
    const now = clock.now();
    const { checkedAt } = await seen.all();
    // A clock that was set back must not stop the checks.
    if (checkedAt <= now && now - checkedAt < updateCheckHours * HOUR_MS) return;
    // Also after a failure: a source that is down is not asked by each run of the job.
    await seen.remember({ checkedAt: now });
    await this.#ask().catch((error: unknown) =>
      log.warn('the releases of the panel cannot be read', { reason: messageOf(error) }),
    );
  }

  async #ask(): Promise<void> {
    const { settings, source, installation, seen, hooks, log } = this.#needs;
    const channel = settings.read().devChannelEnable ? 'dev' : 'stable';
    const { index } = await source.ask();
    const current = await installation.version();
    const next = nextRelease(releasesOf(index, channel), current, platformHere());
    if (!next || (await seen.all()).announced === next.version) return;
    const { version, notes } = next;
    await seen.remember({ announced: version });
    log.info('a new release of the panel can be installed', { version, current, channel });
    hooks.emit(updateFound, { version, current, channel, notes });
  }
}
