// Asks the running core where a connection would leave.
import { canonicalAddress, kernelErrors } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { type CoreRoutesApi, type FoundRoute, userName } from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import { errors } from './errors.js';

interface Needs {
  readonly coreRoutes: CoreRoutesApi | undefined;
  readonly clients: ClientsApi | undefined;
  readonly inbounds: LocalInboundsApi | undefined;
}
export interface AskedRoute {
  readonly inboundTag: string;
  readonly domain: string;
  readonly ip: string;
  readonly port: number;
  readonly network: 'tcp' | 'udp';
  readonly protocol: string;
  readonly email: string;
}

/** The core knows an attachment, not a client; a name that is no client's is taken as it is. */
function userOf({ clients, inbounds }: Needs, { email, inboundTag }: AskedRoute): string {
  const client = email === '' ? undefined : clients?.byEmail(email);
  const inbound = inbounds?.list().find(({ tag }) => tag === inboundTag);
  return client && inbound ? userName({ inboundId: inbound.id, clientId: client.id }) : email;
}

function needsPlace() {
  const message = 'domain: it or ip is needed';
  return kernelErrors.INVALID(message, { issues: [{ path: 'domain', message }] });
}

/** Rejects with NO_CORE or KERNEL_INVALID. `ip` is valid. */
export async function findRoute(needs: Needs, asked: AskedRoute): Promise<FoundRoute> {
  if (asked.domain === '' && asked.ip === '') throw needsPlace();
  const { email: _, ...question } = asked;
  const found = await needs.coreRoutes?.route({
    ...question,
    ip: canonicalAddress(asked.ip) ?? '',
    domain: asked.domain.toLowerCase(),
    user: userOf(needs, asked),
  });
  if (!found) throw errors.NO_CORE();
  return found;
}
