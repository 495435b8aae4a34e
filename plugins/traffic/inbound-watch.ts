// Finds inbounds that reached a limit or the end of a period. Checks those that moved bytes, and all of them when time may have changed something.
import { type Hooks, type Log, messageOf, type Principal, storageFailure } from '../../kernel/index.js';
import type { ClientEditsApi, ClientUsage } from '../clients/contract.js';
import {
  type Inbound,
  inboundDepletion,
  type InboundLimitsApi,
  type InboundsApi,
} from '../inbounds/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { periodStart, QUARTER_MS } from './calendar.js';
import { inboundDepleted, trafficReset } from './contract.js';

export class InboundWatch {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #self: Principal;
  readonly #inbounds: InboundsApi;
  readonly #limits: InboundLimitsApi;
  readonly #edits: ClientEditsApi;
  readonly #settings: SettingsApi;
  /** of the last check of the schedules; undefined forces the next check */
  #quarter: number | undefined;
  /** the next expiry; undefined when it must be looked up */
  #nextExpiry: number | undefined;

  constructor(needs: {
    hooks: Hooks;
    log: Log;
    self: Principal;
    inbounds: InboundsApi;
    limits: InboundLimitsApi;
    edits: ClientEditsApi;
    settings: SettingsApi;
  }) {
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#self = needs.self;
    this.#inbounds = needs.inbounds;
    this.#limits = needs.limits;
    this.#edits = needs.edits;
    this.#settings = needs.settings;
  }

  /** Call it when inbounds or the calendar have changed. */
  changed(): void {
    this.#quarter = undefined;
    this.#nextExpiry = undefined;
  }

  /** Resets counters whose period is over: once, however long no panel ran, and in one transaction with what follows from it. */
  async resetDue(now: number): Promise<void> {
    const quarter = Math.floor(now / QUARTER_MS);
    if (quarter === this.#quarter) return;
    this.#quarter = quarter;
    const due = this.#inbounds.list().filter((inbound) => this.#isDue(inbound, now));
    if (due.length === 0) return;
    const ids = due.map(({ id }) => id);
    try {
      await this.#limits.reset(ids, now, this.#self, (work) =>
        this.#edits.resetTrafficOf(ids, this.#self, work),
      );
    } catch (error) {
      this.#quarter = undefined;
      // The kernel reports failures of the database.
      if (storageFailure(error)) return;
      this.#log.error('the traffic of inbounds could not be reset at the end of its period; retrying', {
        ids,
        reason: messageOf(error),
      });
      return;
    }
    this.#hooks.emit(trafficReset, { at: now, inboundIds: ids });
    this.#log.info('reset the traffic of inbounds and their clients: a new period has started', { ids });
  }

  #isDue({ trafficReset: schedule, trafficResetDay, countedSince }: Inbound, now: number): boolean {
    if (schedule === 'never') return false;
    return (
      periodStart(
        schedule,
        trafficResetDay,
        now,
        timeZoneOf(this.#settings.read(panelSettings).timeLocation),
      ) > countedSince
    );
  }

  /** `all`: the previous panel may have crashed after it wrote the bytes of a poll and before it applied the limits. */
  async enforce(usage: readonly ClientUsage[], now: number, all: boolean): Promise<void> {
    const timeIsUp = this.#expiry() <= now;
    const ids =
      all || timeIsUp
        ? this.#inbounds.list().map(({ id }) => id)
        : new Set(usage.map(({ inboundId }) => inboundId));
    const reached = [...ids].flatMap((id) => {
      const inbound = this.#inbounds.get(id);
      const cause = inbound?.enable ? inboundDepletion(inbound, this.#inbounds.usage(id), now) : undefined;
      return inbound && cause ? [{ id, cause, tag: inbound.tag }] : [];
    });
    if (reached.length === 0) return;
    await this.#limits.deplete(reached, this.#self);
    this.#hooks.emit(inboundDepleted, { inbounds: reached });
    this.#log.info('inbounds reached a limit and were disabled', { tags: reached.map(({ tag }) => tag) });
  }

  #expiry(): number {
    this.#nextExpiry ??= Math.min(
      ...this.#inbounds
        .list()
        .flatMap(({ enable, expiryTime }) => (enable && expiryTime > 0 ? [expiryTime] : [])),
    );
    return this.#nextExpiry;
  }
}
