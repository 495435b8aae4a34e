// Clients and the own role as admins of groups see them.
import { type ClientPagesApi, type ClientRow, type ClientsApi, someInbounds } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { linksOfClient, type SubscriptionApi } from '../subscription/contract.js';
import type { GroupScope } from './scope.js';

export class GroupViews {
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
    return { ...this.#pages.shown(row), group: row.group };
  }

  withLinks(row: ClientRow, host: string) {
    return { ...this.client(row), ...linksOfClient(this.#subscription, this.#clients, row, host) };
  }

  own(scope: GroupScope) {
    const ids = [...scope.inboundIds()].sort((a, b) => a - b);
    const inbounds = someInbounds(this.#inbounds, ids);
    return { level: scope.role.level, groups: scope.counts(), inbounds };
  }
}
