// Before the core is stopped on purpose: what ends now is counted to its last byte, what ends with the core is not.
import { type Log, messageOf } from '../../kernel/index.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { runsOverUdp } from './reach.js';
import type { Sockets } from './sockets.js';

export class Parting {
  readonly #log: Log;
  readonly #inbounds: Pick<InboundsApi, 'list'>;
  readonly #sockets: Pick<Sockets, 'endAt' | 'hindrance'>;

  constructor({
    log,
    inbounds,
    sockets,
  }: { log: Log; inbounds: Pick<InboundsApi, 'list'>; sockets: Pick<Sockets, 'endAt' | 'hindrance'> }) {
    this.#log = log;
    this.#inbounds = inbounds;
    this.#sockets = sockets;
  }

  /** The core lets nobody in any more: ends all that is open to its inbounds over TCP, where the panel has the right. */
  async endAll(): Promise<void> {
    const places = this.#inbounds
      .list()
      .flatMap((inbound) => (runsOverUdp(inbound) ? [] : [{ address: inbound.listen, port: inbound.port }]));
    if (places.length === 0 || (await this.#sockets.hindrance()) !== '') return;
    await this.#sockets.endAt(places).catch((error: unknown) =>
      this.#log.warn('connections could not be ended before the core; its last moment may go uncounted', {
        reason: messageOf(error),
      }),
    );
  }
}
