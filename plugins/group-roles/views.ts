// Clients and the own role as admins of groups see them.
import type { ClientPagesApi, ClientRow, ClientsApi } from '../clients/contract.js';
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

  /** Of inbounds, only name, protocol and whether a flow fits: what a form needs. */
  own(scope: GroupScope) {
    const inbounds = [...scope.inboundIds()]
      .sort((a, b) => a - b)
      .flatMap((id) => {
        const inbound = this.#inbounds.get(id);
        if (!inbound) return [];
        const { remark, protocol } = inbound;
        return [{ id, remark, protocol, flow: this.#inbounds.takesFlow(id) }];
      });
    return { level: scope.role.level, groups: scope.counts(), inbounds };
  }
}
