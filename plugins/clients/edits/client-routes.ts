// Routes that add, edit and delete one client.
import { message, once, route, type Route } from '../../../kernel/index.js';
import { describeResult, DONE } from '../../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../../inbounds/contract.js';
import { errors } from '../errors.js';
import { AddClient, ClientPatch } from '../model/schema.js';
import { clientVersion } from '../model/version.js';
import type { ShownUsage } from '../lists/shown-usage.js';
import type { UsageEdits } from '../usage/usage-edits.js';
import type { ClientService } from './client-service.js';
import type { ClientWriter } from './client-writer.js';
import { SentUsage, Email, InboundIds, KeepTraffic } from './request-schemas.js';

const taken = [
  errors.CREDENTIAL_TAKEN,
  errors.EMAIL_TAKEN,
  errors.SUB_ID_TAKEN,
  errors.UUID_TAKEN,
  errors.PASSWORD_TAKEN,
  errors.REVERSE_TAKEN,
];

interface Needs {
  readonly service: ClientService;
  readonly writer: ClientWriter;
  readonly usage: UsageEdits;
  readonly inbounds: InboundsApi;
  readonly shown: ShownUsage;
}

/** Says which of the inbounds that were sent needed nothing. */
function leftOut(sent: readonly number[], used: readonly number[], why: string): string {
  const left = [...new Set(sent)].filter((id) => !used.includes(id));
  return left.length > 0 ? `; ${why} ${left.map((id) => `#${id}`).join(', ')}` : '';
}

export const clientRoutes = ({ service, writer, usage, inbounds, shown }: Needs): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/clients/add',
    name: 'clients.add',
    doc: 'Creates a client and attaches it to inbounds.',
    body: AddClient,
    reply: message(),
    errors: [...taken, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS, inboundErrors.POOL_FULL],
    handle: async (input) =>
      describeResult('client added', await once(input, (note) => service.add(input.body, input.who, note))),
  }),
  clientVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/clients/update/{email}',
      name: 'clients.update',
      doc: 'Changes the fields that are sent.',
      params: Email,
      body: ClientPatch,
      reply: message(),
      errors: [errors.NOT_FOUND, ...taken],
      handle: async ({ params, body, who }) =>
        describeResult('client saved', await service.update(params.email, body, who)),
    }),
    ({ email }: { readonly email: string }) => shown.client(service.find(email)),
  ),
  clientVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/clients/del/{email}',
      name: 'clients.delete',
      doc: 'Deletes a client with all its data; keepTraffic retains its usage by email.',
      params: Email,
      query: KeepTraffic,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params: { email }, query: { keepTraffic }, who }) => {
        const { deleted, applied } = await writer.write(
          { deleted: [service.find(email)], keepTraffic: keepTraffic === '1' || keepTraffic === 'true' },
          who,
        );
        if (deleted.size === 0)
          throw errors.NOT_FOUND(`the client ${email} was deleted meanwhile`, { path: 'email' });
        return describeResult('client deleted', applied);
      },
    }),
    ({ email }: { readonly email: string }) => shown.client(service.find(email)),
  ),
  clientVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/clients/{email}/attach',
      name: 'clients.attach',
      doc: 'Attaches a client to inbounds; it stays attached to others.',
      params: Email,
      body: InboundIds,
      reply: message(),
      errors: [errors.NOT_FOUND, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS, inboundErrors.POOL_FULL],
      handle: async (input) => {
        const { inboundIds } = input.body;
        const { attach, applied } = await once(input, async (note) => {
          const row = service.find(input.params.email);
          inbounds.requireForClients(inboundIds, 'inboundIds');
          const attach = inboundIds.filter((id) => !row.inboundIds.includes(id));
          const { applied } = await writer.write(
            { edits: [{ row, attach }], committing: () => note?.({ attach, applied: DONE }) },
            input.who,
          );
          return { attach, applied };
        });
        return describeResult(
          `client attached${leftOut(inboundIds, attach, 'it was already attached to')}`,
          applied,
        );
      },
    }),
    ({ email }: { readonly email: string }) => shown.client(service.find(email)),
  ),
  clientVersion.guarded(
    route({
      method: 'POST',
      path: '/panel/api/clients/{email}/detach',
      name: 'clients.detach',
      doc: 'Detaches a client from inbounds; what it used through them stays counted.',
      params: Email,
      body: InboundIds,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params: { email }, body: { inboundIds }, who }) => {
        const row = service.find(email);
        const detach = inboundIds.filter((id) => row.inboundIds.includes(id));
        const { applied } = await writer.write({ edits: [{ row, detach }] }, who);
        return describeResult(
          `client detached${leftOut(inboundIds, detach, 'it was not attached to')}`,
          applied,
        );
      },
    }),
    ({ email }: { readonly email: string }) => shown.client(service.find(email)),
  ),
  route({
    method: 'POST',
    path: '/panel/api/clients/resetTraffic/{email}',
    name: 'clients.resetTraffic',
    doc: 'Resets the usage of a client and enables it, unless it is expired.',
    params: Email,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, who }) =>
      describeResult('traffic reset', (await usage.resetTraffic([service.find(email).email], who)).applied),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/updateTraffic/{email}',
    name: 'clients.updateTraffic',
    doc: 'Sets the usage of a client.',
    params: Email,
    body: SentUsage,
    reply: message(),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { email }, body: { upload: up, download: down }, who }) =>
      describeResult('traffic saved', await usage.setTraffic(service.find(email), { up, down }, who)),
  }),
];
