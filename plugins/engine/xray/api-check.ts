// Checks that the API of a running core answers as the driver needs it, for versions that the driver was not written for.
import { CoreUnreachable, CoreRefused } from '../driver.js';
import type { Accounts } from '../users/accounts.js';
import type { CoreApi } from './api.js';
import { API_TAG } from './config-text.js';
import type { RunningInbounds } from './inbounds.js';

/** No inbound and no user has this name: tags of ours have no blank in them. */
const NOBODY = 'weir.no such name';

async function step<T>(name: string, call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    throw new CoreUnreachable(`its API does not answer ${name} as expected: ${(error as Error).message}`, {
      cause: error,
    });
  });
}

/** Changes nothing: reads, and removes what does not exist. Rejects with the call that is answered otherwise. */
export async function checkApi(
  { api, inbounds }: { readonly api: CoreApi; readonly inbounds: RunningInbounds },
  accounts: Accounts,
): Promise<void> {
  await step('ListInbounds', api.listInbounds());
  await step('QueryStats', api.queryStats(NOBODY));
  // Replies to what is missing are recognised by their text, which versions differ in.
  if (await step('RemoveInbound', api.removeInbound(NOBODY)))
    throw new CoreRefused('its API removes an inbound that does not exist');
  await checkRouting(api);
  for (const [tag, type] of inbounds.types) {
    if (accounts.byInbound(type).length === 0) continue;
    if (await step('AlterInbound', api.removeUser(tag, NOBODY)))
      throw new CoreRefused('its API removes a user who does not exist');
    break;
  }
}

/** Without these calls each change of a rule restarts the core; with other answers, changes would go wrong. */
async function checkRouting({ routing }: CoreApi): Promise<void> {
  await step('ListOutbounds', routing.outbounds());
  const [first] = await step('ListRule', routing.ruleTags());
  if (first !== API_TAG) throw new CoreRefused('its API does not return the tags of its rules');
  if (await step('GetBalancerInfo', routing.hasBalancer(NOBODY)))
    throw new CoreRefused('its API has a balancer that does not exist');
  await step('RemoveRule', routing.removeRule(NOBODY));
  await step('RemoveOutbound', routing.removeOutbound(NOBODY));
}
