// NordVPN: lists its servers, and leads traffic through one by an outbound of the template.
import {
  bool,
  contribute,
  definePlugin,
  kernelErrors,
  maybe,
  oneOf,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import { CoreTemplate, templateErrors } from '../core-template/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { ActionBody, type ActionName, ACTIONS, CountryId, runAction } from './actions.js';
import { errors } from './errors.js';
import { Provider } from './provider.js';
import { ProviderService } from './provider-service.js';
import { HostName, ListedServer, serverOf } from './server.js';
import { providerSettings } from './settings.js';

export default definePlugin({
  name: 'vpnprovider',
  version: '0.1.0',
  api: 1,
  about: 'Outbounds through servers of NordVPN.',
  uses: { outgoing: Outgoing, template: maybe(CoreTemplate) },
  settings: providerSettings,
  services: { service: singleton(ProviderService), provider: singleton(Provider) },
  contributes: ({ service }) => [contribute(OutgoingHosts, service.access)],
  routes: ({ provider }) => [
    route({
      method: 'POST',
      path: '/panel/api/engine/vpnprovider/{action}',
      name: 'engine.vpnprovider',
      doc: 'The account of this panel at NordVPN. countries and servers: what the provider has; reg: asks it for the private key of an account; setKey: stores a private key; data: what is stored; del: forgets it. `obj` is JSON text, or blank.',
      params: shape({ action: oneOf(...(Object.keys(ACTIONS) as ActionName[])) }),
      form: true,
      body: optional(ActionBody).example({ countryId: 81 }),
      reply: payload(
        text().description(
          'countries: the list of the provider; servers: its reply, without servers that have hardly any load; data, reg, setKey: `{private_key, token}`; else blank',
        ),
      ),
      errors: [errors.REFUSED, errors.SERVICE],
      handle: async ({ params: { action }, body = {}, who, ignored }) => {
        const done = await runAction(action, { provider, sent: body, who }, ignored);
        return withMessage(done.said, done.text);
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/x/vpnprovider/apply',
      name: 'vpnprovider.apply',
      doc: 'Puts a server into the outbound `nord-<hostname>` of the template: into the one that is there, whose other keys stay, or into a new one at the end. Send `server` as the action servers lists it, or its `hostname` with `countryId`. The core tests the template first, as `engine/update` does.',
      body: shape({
        server: optional(ListedServer).description('an entry of the action servers'),
        hostname: optional(HostName()),
        countryId: optional(CountryId()),
      }).example({ hostname: 'de1000.nordvpn.com', countryId: 81 }),
      reply: payload(
        shape({
          tag: word(),
          replaced: bool().description('whether the outbound was there before'),
          endpoint: text().description('host and port of the far end'),
        }),
      ),
      errors: [
        errors.NO_KEY,
        errors.NO_SERVER,
        errors.REFUSED,
        errors.SERVICE,
        errors.NO_TEMPLATE,
        templateErrors.INVALID,
        templateErrors.NOT_TESTED,
        templateErrors.ROLLED_BACK,
        templateErrors.TAG_TAKEN,
      ],
      handle: async ({ body: { server, hostname, countryId }, who, reply }) => {
        if (provider.stored === '') throw errors.NO_KEY();
        if (server && hostname !== undefined)
          throw kernelErrors.INVALID('server and hostname exclude each other; send one of them', {
            path: 'hostname',
          });
        if (!server && (hostname === undefined || !countryId)) {
          const path = hostname === undefined ? 'hostname' : 'countryId';
          throw kernelErrors.INVALID(`${path} is required where no server is sent`, { path });
        }
        const chosen = server ? serverOf(server) : await provider.find(countryId ?? 0, hostname ?? '');
        if (typeof chosen === 'string')
          throw kernelErrors.INVALID(`server.technologies: ${chosen}`, { path: 'server.technologies' });
        reply.progressed();
        const { outbound, said } = await provider.apply(chosen, who);
        return withMessage(said, outbound);
      },
    }),
  ],
});
