// Clients and figures as resellers see them.
import { type ClientPagesApi, type ClientRow, type ClientsApi, someInbounds } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { linksOfClient, type SubscriptionApi } from '../subscription/contract.js';
import type { Scope } from './scope.js';

export class OwnViews {
  readonly #pages: ClientPagesApi;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #subscription: SubscriptionApi | undefined;

  constructor(needs: {
    pages: ClientPagesApi;
    clients: ClientsApi;
    inbounds: InboundsApi;
    subscription?: SubscriptionApi | undefined;
  }) {
    this.#pages = needs.pages;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#subscription = needs.subscription;
  }

  client(row: ClientRow) {
    return this.#pages.shown(row);
  }

  withLinks(row: ClientRow, host: string) {
    return { ...this.client(row), ...linksOfClient(this.#subscription, this.#clients, row, host) };
  }

  figures({ reseller, size }: Scope) {
    const { name, prefix, maxClients, maxBytes, maxDays, mayReset, givenBytes, inboundIds } = reseller;
    const inbounds = someInbounds(this.#inbounds, inboundIds);
    return { name, prefix, maxClients, maxBytes, maxDays, mayReset, givenBytes, clients: size, inbounds };
  }
}
