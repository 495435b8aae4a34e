// Closes connections before a planned stop of the core: the last poll then counts all of their bytes.
import { type Log, messageOf } from '../../kernel/index.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { runsOverUdp } from './udp.js';
import type { Sockets } from './sockets.js';

export class CloseOnStop {
  readonly #log: Log;
  readonly #inbounds: Pick<InboundsApi, 'list'>;
  readonly #sockets: Pick<Sockets, 'closeAt' | 'obstacle'>;

  constructor({
    log,
    inbounds,
    sockets,
  }: { log: Log; inbounds: Pick<InboundsApi, 'list'>; sockets: Pick<Sockets, 'closeAt' | 'obstacle'> }) {
    this.#log = log;
    this.#inbounds = inbounds;
    this.#sockets = sockets;
  }

  /** Closes all TCP connections to the core's inbounds, where the panel has the right. New ones are rejected by then. */
  async closeAll(): Promise<void> {
    const places = this.#inbounds
      .list()
      .flatMap((inbound) => (runsOverUdp(inbound) ? [] : [{ address: inbound.listen, port: inbound.port }]));
    if (places.length === 0 || (await this.#sockets.obstacle()) !== '') return;
    await this.#sockets.closeAt(places).catch((error: unknown) =>
      this.#log.warn(
        'connections could not be closed before the core stops; the last bytes may not be counted',
        {
          reason: messageOf(error),
        },
      ),
    );
  }
}
