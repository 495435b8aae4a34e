// What full admins decide about resellers. No role opens these calls.
import {
  int,
  list,
  LIST_BODY,
  message,
  nullable,
  once,
  payload,
  route,
  type Route,
  shape,
  text,
  validate,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { AdminListApi } from '../access/contract.js';
import { clientErrors, type ClientsApi, PageQuery, SomeClientsQuery } from '../clients/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import { errors } from './errors.js';
import type { Ownership } from './ownership.js';
import type { ResellerMemory } from './reseller-state.js';
import type { ResellerStore } from './reseller-store.js';
import {
  Id,
  NewReseller,
  OwnerEmails,
  OwnerReply,
  OwnPage,
  ResellerChanges,
  ResellerReply,
} from './schemas.js';
import type { Scopes } from './scope.js';
import type { Reseller } from './tables.js';
import type { OwnViews } from './views.js';

const PATH = '/panel/api/x/resellers';
const CHECKED = [errors.NO_ADMIN, errors.ADMIN_TAKEN, inboundErrors.NOT_FOUND, inboundErrors.NO_CLIENTS];

interface Needs {
  readonly store: ResellerStore;
  readonly memory: ResellerMemory;
  readonly ownership: Ownership;
  readonly scopes: Scopes;
  readonly views: OwnViews;
  readonly admins: AdminListApi;
  readonly clients: ClientsApi;
}

export const adminRoutes = ({ store, memory, ownership, scopes, views, admins, clients }: Needs): Route[] => {
  const shown = ({ adminId, inboundIds, ...reseller }: Reseller) => {
    const admin = admins.byId(adminId);
    return {
      ...reseller,
      inboundIds: [...inboundIds],
      admin: admin
        ? { id: admin.id, username: admin.username, enabled: admin.enabled, role: admin.role }
        : null,
      clients: memory.clientsOf(reseller.id).size,
    };
  };
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'resellers.list',
      doc: 'All resellers with their quotas and what they have used of them, by id.',
      reply: payload(list(ResellerReply)),
      handle: () => memory.list().map(shown),
    }),
    route({
      method: 'POST',
      path: PATH,
      name: 'resellers.add',
      doc: 'Makes an admin a reseller. The admin needs a role of the kind reseller as well.',
      body: NewReseller,
      reply: payload(ResellerReply),
      errors: [...CHECKED, errors.TOO_MANY],
      handle: async (input) => {
        const { admin: adminId, ...fields } = input.body;
        const added = await once(input, (note) => store.add({ ...fields, adminId }, input.who, note));
        return withMessage('reseller added', shown(added));
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}`,
      name: 'resellers.update',
      doc: 'Changes what is sent. A quota may be below what is used: then nothing more can be given.',
      params: Id,
      body: ResellerChanges,
      reply: payload(ResellerReply),
      errors: [...CHECKED, errors.NOT_FOUND],
      handle: async ({ params, body: { admin, ...sent }, who }) => {
        const fields = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
        const saved = await store.update(
          params.id,
          { ...fields, ...(admin !== undefined && { adminId: admin }) },
          who,
        );
        return withMessage('reseller saved', shown(saved));
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/del`,
      name: 'resellers.delete',
      doc: 'Deletes the reseller, and neither the admin nor the clients, which then belong to nobody.',
      params: Id,
      reply: message(),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, who }) => {
        await store.delete(params.id, who);
        return 'reseller deleted; the clients stay';
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/{id}/clients`,
      name: 'resellers.clients',
      doc: 'A page of the clients of a reseller.',
      params: Id,
      query: SomeClientsQuery,
      reply: payload(OwnPage),
      errors: [errors.NOT_FOUND],
      handle: async ({ params, query }) => {
        const scope = scopes.ofReseller(store.find(params.id));
        const { rows, ...page } = await scope.page(validate(PageQuery, query));
        return { ...page, items: rows.map((row) => views.client(row)) };
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/clients`,
      name: 'resellers.assign',
      doc: 'Gives clients to a reseller, also those of another one. Their limits do not count for his bytes.',
      params: Id,
      body: OwnerEmails,
      bodyLimit: LIST_BODY,
      reply: payload(OwnerReply),
      errors: [errors.NOT_FOUND, errors.SHARED],
      handle: async ({ params, body, who }) => {
        const done = await ownership.assign(params.id, body.emails, who);
        return withMessage('clients assigned', { ...done, unknown: [...done.unknown] });
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/release`,
      name: 'resellers.release',
      doc: 'Takes clients from their resellers; they belong to nobody then.',
      body: OwnerEmails,
      bodyLimit: LIST_BODY,
      reply: payload(OwnerReply),
      handle: async ({ body, who }) => {
        const done = await ownership.assign(0, body.emails, who);
        return withMessage('clients released', { ...done, unknown: [...done.unknown] });
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/owner/{email}`,
      name: 'resellers.owner',
      doc: 'Whose a client is; null: nobody.',
      params: shape({ email: word().example('ada@example.org') }),
      reply: payload(nullable(shape({ id: int(), name: text() }))),
      errors: [clientErrors.NOT_FOUND],
      handle: ({ params: { email } }) => {
        const client = clients.byEmail(email);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
        const owner = memory.ownerOf(client.id);
        return owner ? { id: owner.id, name: owner.name } : null;
      },
    }),
  ];
};
