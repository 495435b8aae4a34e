// Two levers that end what would run out. Both hit others as well, so they are pulled only where an admin wants it.
import { type Clock, type Log, messageOf, type LiveSettings } from '../../kernel/index.js';
import type { EngineApi, UserRef } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { Cutter } from './cutter.js';
import { servesUdp } from './reach.js';
import type { cutSettings } from './settings.js';

const BETWEEN_RESTARTS_MS = 60_000;

export class Levers {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #engine: Pick<EngineApi, 'replaceInbound' | 'restart'>;
  readonly #inbounds: Pick<InboundsApi, 'get'>;
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
    inbounds: Pick<InboundsApi, 'get'>;
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

  /** The core has given these up. */
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
      this.#log.info('an inbound is replaced to end what a removed client has open over UDP', { tag });
      await this.#engine.replaceInbound(id);
    }
  }

  /** A restart that has been decided on takes the removals of its minute together. */
  async tick(): Promise<void> {
    if (this.#restartAt === undefined || this.#clock.now() < this.#restartAt) return;
    this.#restartAt = undefined;
    this.#restartedAt = this.#clock.now();
    await this.#engine
      .restart('removed clients have connections that cannot be ended otherwise')
      .catch((error: unknown) =>
        this.#log.warn('the core could not be restarted to end connections of removed clients', {
          reason: messageOf(error),
        }),
      );
  }
}
