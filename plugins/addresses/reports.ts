// From where clients connected to other machines: what their panels post here, and what plugins bring that talk to them.
import { canonicalAddress, extensionPoint, type PluginContext, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { AddressLimit } from './limit.js';
import type { Observer } from './observer.js';
import type { Sightings } from './sightings.js';

/** A client that connected to another machine. */
export interface SeenElsewhere {
  readonly clientId: number;
  /** IP address of the client; another text is skipped */
  readonly address: string;
  /** Unix ms of the beginning of its last connection; a time in the future counts as now */
  readonly at: number;
  /** Unix ms of the beginning of its present use: who came first keeps a place of `limitIp`. Without it, that is when the first report names it. */
  readonly since?: number | undefined;
}
export interface AddressOutput {
  /** Takes in what the panel with this guid saw; resolves when it is in memory. Rejects anything but a guid of another panel and a list. */
  seen(guid: string, seen: readonly SeenElsewhere[]): Promise<void>;
}
/** Brings from where clients connected to other machines. */
export interface AddressReporter {
  start(output: AddressOutput): void;
}
/** Addresses that other machines saw: shown under their guids, and counted by `limitIp` like those seen here. */
export const AddressReporters = extensionPoint<AddressReporter>(
  'addresses',
  'AddressReporters',
  ({ start }) => (typeof start === 'function' ? undefined : 'it needs the function start'),
);

/** `guid`: of the panel that saw it. */
export type SeenBy = SeenElsewhere & { readonly guid: string };

const GUID = /^[\w:.-]{1,64}$/;
const MOST_SEEN = 1_000_000;

export class AddressReports {
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #identity: PanelIdentityApi;
  readonly #observer: Pick<Observer, 'isIgnored'>;
  readonly #sightings: Sightings;
  readonly #limit: AddressLimit;

  constructor(needs: {
    clients: Pick<ClientsApi, 'byId'>;
    identity: PanelIdentityApi;
    observer: Pick<Observer, 'isIgnored'>;
    sightings: Sightings;
    limit: AddressLimit;
  }) {
    this.#clients = needs.clients;
    this.#identity = needs.identity;
    this.#observer = needs.observer;
    this.#sightings = needs.sightings;
    this.#limit = needs.limit;
  }

  open(contributions: PluginContext['contributions']): void {
    for (const { value, fault } of contributions(AddressReporters))
      try {
        value.start({ seen: (guid, seen) => this.#seen(guid, seen) });
      } catch (error) {
        fault('the start of reports', error);
      }
  }

  async #seen(guid: string, seen: readonly SeenElsewhere[]): Promise<void> {
    if (typeof guid !== 'string' || !GUID.test(guid) || guid === this.#identity.guid)
      throw new TypeError('addresses need the guid of another panel');
    if (!Array.isArray(seen) || seen.length > MOST_SEEN)
      throw new TypeError(`addresses must be a list of at most ${MOST_SEEN}`);
    await this.take(withGuid(guid, seen));
  }

  /** Skips unknown clients, what this panel saw itself, and addresses of proxies. */
  async take(seen: Iterable<SeenBy>): Promise<void> {
    const found = new Set<number>();
    const slice = new TimeSlice();
    for (const { guid, clientId, address: ip, at, since } of seen) {
      if (slice.isOver) await slice.next();
      // What this panel saw comes back from the panel that it was reported to.
      if (guid === this.#identity.guid || !this.#clients.byId(clientId)) continue;
      const address = typeof ip === 'string' ? canonicalAddress(ip) : undefined;
      if (address === undefined || this.#observer.isIgnored(address)) continue;
      if (this.#sightings.note(clientId, address, at, guid, false, since) !== undefined) found.add(clientId);
    }
    void this.#limit.seen(found);
  }
}

function* withGuid(guid: string, seen: readonly SeenElsewhere[]): Generator<SeenBy> {
  for (const one of seen) yield { ...one, guid };
}
