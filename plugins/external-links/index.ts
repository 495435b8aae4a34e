import {
  contribute,
  definePlugin,
  job,
  message,
  provide,
  route,
  shape,
  singleton,
  tap,
  word,
} from '../../kernel/index.js';
import { AuditedHooks } from '../audit/contract.js';
import { clientErrors, ClientParts, Clients, duringClientSave } from '../clients/contract.js';
import { LinkReader } from '../link-reader/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { ClientEntries } from '../subscription/contract.js';
import { duringLinksSave, ExternalLinks } from './contract.js';
import { ExternalEntries } from './entries.js';
import { errors } from './errors.js';
import { LinkStore } from './link-store.js';
import { externalLinks } from './recorded.js';
import { checkedLinks, checkedList, type NewLink, ReplaceLinks, sentPart } from './sent-links.js';
import { linkSettings } from './settings.js';
import { SourceFetcher } from './source-fetcher.js';
import { SourceStore } from './source-store.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'external-links',
  version: '0.1.0',
  api: 1,
  about: 'Entries of other servers that belong to the subscription of a client.',
  uses: { clients: Clients, reader: LinkReader, outgoing: Outgoing },
  hooks: [duringLinksSave],
  settings: linkSettings,
  tables,
  migrations,
  services: {
    store: singleton(LinkStore),
    sources: singleton(SourceStore),
    entries: singleton(ExternalEntries),
    fetcher: singleton(SourceFetcher),
  },
  provides: ({ store }) => [provide(ExternalLinks, store)],
  contributes: ({ store, entries, fetcher }) => [
    contribute(AuditedHooks, externalLinks),
    contribute(ClientEntries, entries),
    contribute(OutgoingHosts, fetcher.access),
    contribute(ClientParts, {
      name: 'externalLinks',
      check: checkedList,
      show: (clientId) => store.of(clientId),
      export: async (clientIds) =>
        new Map(
          clientIds.flatMap((id) => {
            const links = store.of(id);
            return links.length === 0 ? [] : [[id, links.map(sentPart)] as const];
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
  jobs: ({ fetcher }) => [job('fetch-subscriptions', '1m', (signal) => fetcher.run(signal))],
  // Nobody waits for it: what a fetch needs earlier, it reads itself.
  start: ({ entries, sources }) => {
    void entries.readAhead(...[...sources.all()].map(({ links }) => links));
  },
  routes: ({ store, clients, entries }) => [
    route({
      method: 'POST',
      path: '/panel/api/clients/{email}/externalLinks',
      name: 'clients.setExternalLinks',
      doc: 'Replaces the external links of a client; clients/get shows them. The message names links that only lists of links can have, and why.',
      params: shape({ email: word().example('ada@example.org') }),
      body: ReplaceLinks,
      reply: message(),
      errors: [clientErrors.NOT_FOUND, errors.INVALID],
      handle: async ({ params: { email }, body, who }) => {
        const client = clients.byEmail(email);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
        const links = checkedLinks(body.externalLinks);
        await store.replace(client.id, links, who);
        return [`${links.length} external links saved`, ...entries.unread(links)].join('; ');
      },
    }),
  ],
});
