// Clients with a limitIp who are connected, as the core counts them: whom its log does not name, and who has a connection
// open for a long time. Other clients are not asked about: each costs a call to the core.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { CoreOnlineApi } from '../engine/contract.js';
import type { AddressLimit } from './limit.js';
import type { Observer } from './observer.js';
import type { Sightings } from './sightings.js';

export class OnlineScan {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #online: CoreOnlineApi | undefined;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #observer: Pick<Observer, 'isIgnored'>;
  readonly #sightings: Sightings;
  readonly #limit: AddressLimit;
  #failing = false;

  constructor({
    log,
    clock,
    online,
    clients,
    observer,
    sightings,
    limit,
  }: {
    log: Log;
    clock: Clock;
    online: CoreOnlineApi | undefined;
    clients: Pick<ClientsApi, 'byId'>;
    observer: Pick<Observer, 'isIgnored'>;
    sightings: Sightings;
    limit: AddressLimit;
  }) {
    this.#log = log;
    this.#clock = clock;
    this.#online = online;
    this.#clients = clients;
    this.#observer = observer;
    this.#sightings = sightings;
    this.#limit = limit;
  }

  async run(): Promise<void> {
    const now = this.#clock.now();
    const found = await this.#ask();
    const seen = new Set<number>();
    for (const { clientId, address } of found)
      if (!this.#observer.isIgnored(address) && this.#sightings.note(clientId, address, now) !== undefined)
        seen.add(clientId);
    await this.#limit.seen(seen);
  }

  async #ask() {
    try {
      const found = await this.#online?.addresses(({ clientId }) => {
        const client = this.#clients.byId(clientId);
        return client?.enable === true && client.limitIp > 0;
      });
      this.#failing = false;
      return found ?? [];
    } catch (error) {
      // A core may lack these statistics; its log goes on.
      if (!this.#failing)
        this.#log.info('the core does not say from where clients are connected', {
          reason: messageOf(error),
        });
      this.#failing = true;
      return [];
    }
  }
}
