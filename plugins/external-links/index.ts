import {
  contribute,
  definePlugin,
  message,
  provide,
  route,
  shape,
  singleton,
  tap,
  word,
} from '../../kernel/index.js';
import { clientErrors, ClientParts, Clients, duringClientSave } from '../clients/contract.js';
import { ExternalLinks } from './contract.js';
import { errors } from './errors.js';
import { LinkStore } from './link-store.js';
import { checkedLinks, checkedList, type NewLink, ReplaceLinks } from './sent-links.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'external-links',
  version: '0.1.0',
  api: 1,
  about: 'Stores entries of other servers that belong to the subscription of a client.',
  uses: { clients: Clients },
  tables,
  migrations,
  services: { store: singleton(LinkStore) },
  provides: ({ store }) => [provide(ExternalLinks, store)],
  contributes: ({ store }) => [
    contribute(ClientParts, {
      name: 'externalLinks',
      check: checkedList,
      show: (clientId) => store.of(clientId),
      export: async (clientIds) =>
        new Map(
          clientIds.flatMap((id) => {
            const links = store.of(id);
            return links.length === 0 ? [] : [[id, links.map(exportOf)] as const];
          }),
        ),
    }),
  ],
  taps: ({ store }) => [
    tap(duringClientSave, async ({ changes }, tx) => {
      const deleted = changes.flatMap(({ kind, before }) => (kind === 'deleted' && before ? before.id : []));
      if (deleted.length > 0) store.clientsDeleted(tx, deleted);
      const sent = changes.flatMap(({ after, parts }) =>
        after && parts?.externalLinks
          ? [{ clientId: after.id, links: parts.externalLinks as readonly NewLink[] }]
          : [],
      );
      if (sent.length > 0) await store.add(tx, sent);
    }),
  ],
  routes: ({ store, clients }) => [
    route({
      method: 'POST',
      path: '/panel/api/clients/{email}/externalLinks',
      name: 'clients.setExternalLinks',
      doc: 'Replaces the external links of a client; clients/get shows them.',
      params: shape({ email: word().example('ada@example.org') }),
      body: ReplaceLinks,
      reply: message(),
      errors: [clientErrors.NOT_FOUND, errors.INVALID],
      handle: async ({ params: { email }, body }) => {
        const client = clients.byEmail(email);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
        const links = checkedLinks(body.externalLinks);
        await store.replace(client.id, links);
        return `${links.length} external links saved`;
      },
    }),
  ],
});

const exportOf = ({ kind, value, remark, enable, expiryTime, namePrefix }: NewLink): NewLink => ({
  kind,
  value,
  remark,
  enable,
  expiryTime,
  namePrefix,
});
