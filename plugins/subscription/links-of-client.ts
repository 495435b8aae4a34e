// The links of one client, for plugins that show single clients. Part of contract.ts.
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { SubscriptionApi } from './contract.js';

/** The format of share links. */
const LINKS = 'links';

/** Share links and the URL of the subscription; none without a subscription server. No URL where an import gave one subscription to several clients: it would show those of others. */
export const linksOfClient = (
  subscription: SubscriptionApi | undefined,
  clients: Pick<ClientsApi, 'sharing'>,
  row: ClientRow,
  host: string,
): { links: string[]; subscription: string } => ({
  links: subscription?.entries(LINKS, row, host) ?? [],
  subscription: (clients.sharing(row.subId) === undefined && subscription?.url(LINKS, row, host)) || '',
});
