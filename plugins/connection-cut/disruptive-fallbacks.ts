// Two ways to close what cannot be closed alone: replace the inbound, or restart the core. Both disconnect others too, so
// an admin must enable them.
import { type Clock, type Log, messageOf, type LiveSettings } from '../../kernel/index.js';
import type { EngineApi, UserRef } from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import type { Cutter } from './cutter.js';
import { servesUdp } from './udp.js';
import type { cutSettings } from './settings.js';

const BETWEEN_RESTARTS_MS = 60_000;

export class DisruptiveFallbacks {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #engine: Pick<EngineApi, 'replaceInbound' | 'restart'>;
  readonly #inbounds: Pick<LocalInboundsApi, 'get'>;
  readonly #settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
  readonly #cutter: Pick<Cutter, 'describe'>;
  #restartAt: number | undefined;
  #restartedAt = -Infinity;

  constructor({
    log,
    clock,
    engine,
    inbounds,
    settings,
    cutter,
  }: {
    log: Log;
    clock: Clock;
    engine: Pick<EngineApi, 'replaceInbound' | 'restart'>;
    inbounds: Pick<LocalInboundsApi, 'get'>;
    settings: Pick<LiveSettings<typeof cutSettings>, 'read'>;
    cutter: Pick<Cutter, 'describe'>;
  }) {
    this.#log = log;
    this.#clock = clock;
    this.#engine = engine;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#cutter = cutter;
  }

  /** The core has removed these users. */
  async removed(users: readonly UserRef[]): Promise<void> {
    const { engineReplaceUdpInbounds: replace, engineRestartToCut: restart } = this.#settings.read();
    if (!replace && !restart) return;
    const inbounds = [...new Set(users.map(({ inboundId }) => inboundId))]
      .map((id) => this.#inbounds.get(id))
      .filter((inbound) => inbound !== undefined);
    const overUdp = inbounds.filter(servesUdp);
    if (
      restart &&
      inbounds.some(
        (inbound) => !this.#cutter.describe(inbound).end && !(replace && overUdp.includes(inbound)),
      )
    )
      this.#restartAt ??= Math.max(this.#clock.now(), this.#restartedAt + BETWEEN_RESTARTS_MS);
    if (!replace) return;
    for (const { id, tag } of overUdp) {
      this.#log.info('replacing an inbound to close the UDP sessions of a removed client', { tag });
      await this.#engine.replaceInbound(id);
    }
  }

  /** Restarts the core if a removal asked for it, at most once a minute. */
  async tick(): Promise<void> {
    if (this.#restartAt === undefined || this.#clock.now() < this.#restartAt) return;
    this.#restartAt = undefined;
    this.#restartedAt = this.#clock.now();
    await this.#engine
      .restart('removed clients have connections that cannot be closed otherwise')
      .catch((error: unknown) =>
        this.#log.warn('the core could not be restarted to close connections of removed clients', {
          reason: messageOf(error),
        }),
      );
  }
}
