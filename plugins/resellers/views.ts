// Clients and figures as resellers see them.
import type { ClientPagesApi, ClientRow, ClientsApi, ClientTrafficApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { SubscriptionApi } from '../subscription/contract.js';
import type { OwnClient } from './schemas.js';
import type { Scope } from './scope.js';

/** The format of share links. */
const LINKS = 'links';

export class OwnViews {
  readonly #pages: ClientPagesApi;
  readonly #traffic: ClientTrafficApi;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #subscription: SubscriptionApi | undefined;

  constructor(needs: {
    pages: ClientPagesApi;
    traffic: ClientTrafficApi;
    clients: ClientsApi;
    inbounds: InboundsApi;
    subscription?: SubscriptionApi | undefined;
  }) {
    this.#pages = needs.pages;
    this.#traffic = needs.traffic;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#subscription = needs.subscription;
  }

  /** No keys, no group and no messenger id: what is not here he does not see. */
  client(row: ClientRow): OwnClient {
    const { up, down, lastOnline } = this.#traffic.of(row);
    return {
      id: row.id,
      email: row.email,
      inboundIds: [...row.inboundIds],
      totalGB: row.totalGB,
      expiryTime: row.expiryTime,
      enable: row.enable,
      depletedCause: row.depletedCause,
      comment: row.comment,
      limitIp: row.limitIp,
      limitHwid: row.limitHwid,
      flow: row.flow,
      up,
      down,
      lastOnline,
      online: this.#pages.online(row),
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }

  withLinks(row: ClientRow, host: string) {
    // A subscription that an import gave to several clients would show those of others.
    const isOwn = this.#clients.sharing(row.subId) === undefined;
    return {
      ...this.client(row),
      links: this.#subscription?.entries(LINKS, row, host) ?? [],
      subscription: (isOwn && this.#subscription?.url(LINKS, row, host)) || '',
    };
  }

  figures({ reseller, size }: Scope) {
    const { name, prefix, maxClients, maxBytes, maxDays, mayReset, givenBytes, inboundIds } = reseller;
    const inbounds = inboundIds.flatMap((id) => {
      const inbound = this.#inbounds.get(id);
      if (!inbound) return [];
      return [
        {
          id,
          remark: inbound.remark,
          protocol: inbound.protocol,
          flow: this.#inbounds.takesFlow(id),
        },
      ];
    });
    return { name, prefix, maxClients, maxBytes, maxDays, mayReset, givenBytes, clients: size, inbounds };
  }
}
