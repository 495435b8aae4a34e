// Where client programs fetch the subscription of a client, for pages that show it.
import { list, payload, type Route, route, shape, text, word } from '../../kernel/index.js';
import { clientErrors, type ClientsApi } from '../clients/contract.js';
import type { Compiled } from './compiled.js';
import type { PublicUrls } from './public-urls.js';

export const urlRoutes = ({
  compiled,
  clients,
  publicUrls,
}: {
  readonly compiled: Compiled;
  readonly clients: ClientsApi;
  readonly publicUrls: PublicUrls;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/x/subscription/urls/{email}',
    name: 'subscription.urls',
    doc: 'The URLs of the subscription of a client, one for each format that is served, the standard one first. Empty for a client without a subId.',
    params: shape({ email: word().example('ada@example.org') }),
    reply: payload(list(shape({ format: word(), url: text() }))),
    errors: [clientErrors.NOT_FOUND],
    handle: ({ params, host: asked }) => {
      const client = clients.byEmail(params.email);
      if (!client) throw clientErrors.NOT_FOUND(`there is no client ${params.email}`, { path: 'email' });
      if (client.subId === '') return [];
      const host = publicUrls.host(asked);
      const formats = new Set(compiled.served.map(([, format]) => format));
      return [...formats]
        .sort((a, b) => Number(b === compiled.standard) - Number(a === compiled.standard))
        .flatMap((format) => {
          const url = publicUrls.of(format, client.subId, host);
          return url === undefined ? [] : [{ format: format.name, url }];
        });
    },
  }),
];
