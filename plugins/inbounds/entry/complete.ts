// Completes the entry of one client from the template that all clients of an inbound share.
import type { Account, ByClient, ClientIdentity, EntryTemplate, ProxyEntry } from './entry.js';

export interface Completion {
  readonly client: ClientIdentity;
  /** the host under which a subscription is fetched; for entries without a server of their own */
  readonly server: string;
  readonly name: string;
}

/** The value for one client. */
export const valueFor = <T>(value: ByClient<T>, client: ClientIdentity): T =>
  typeof value === 'function' ? (value as (client: ClientIdentity) => T)(client) : value;

function fieldsFor(fields: object, client: ClientIdentity): Record<string, unknown> {
  const complete: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) complete[key] = valueFor(value, client);
  return complete;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** The UUID with a number in its bytes 7 and 8, which the core's routing reads (xtls.github.io, RuleObject, `vlessRoute`). */
export const withRoute = (uuid: string, route: number): string =>
  UUID.test(uuid) ? `${uuid.slice(0, 14)}${route.toString(16).padStart(4, '0')}${uuid.slice(18)}` : uuid;

/** The entry of one client, with all its values. */
export function completeEntry<A extends Account>(
  template: EntryTemplate<A>,
  { client, server, name }: Completion,
): ProxyEntry<A> {
  const { vlessRoute, security } = template;
  const account = fieldsFor(template.account, client);
  if (vlessRoute !== undefined && account['protocol'] === 'vless')
    account['id'] = withRoute(String(account['id']), vlessRoute);
  return {
    ...template,
    name,
    server: template.server || server,
    account: account as A,
    security: (security.kind === 'reality'
      ? fieldsFor(security, client)
      : security) as ProxyEntry['security'],
  };
}
