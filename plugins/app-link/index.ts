import { createPublicKey } from 'node:crypto';
import {
  bool,
  definePlugin,
  int,
  payload,
  route,
  setting,
  shape,
  tap,
  text,
  inSection,
} from '../../kernel/index.js';
import { clientErrors, Clients } from '../clients/contract.js';
import { composeDefaultSettings } from '../settings/contract.js';
import { Subscription } from '../subscription/contract.js';
import { encryptedLink } from './crypt5.js';
import { errors } from './errors.js';
import { APP_KEY } from './public-key.js';
import { checkSource } from './source.js';

const STANDARD = 'links';
const key = createPublicKey(APP_KEY);

export const appLinkSettings = inSection(
  'Links for an app',
  {
    appLinkEnable: setting(
      bool(),
      false,
      'make encrypted links to subscriptions, which only the app can read',
    ),
  },
  { level: 'advanced' },
);

export default definePlugin({
  name: 'app-link',
  version: '0.1.0',
  api: 1,
  about: 'Writes a subscription as a link that opens it in an app and shows its address to nobody.',
  uses: { clients: Clients, subscription: Subscription },
  settings: appLinkSettings,
  taps: ({ settings }) => [
    tap(composeDefaultSettings, (add) => add({ appLinkEnable: settings.read().appLinkEnable })),
  ],
  routes: ({ settings, clients, subscription }) => [
    route({
      method: 'POST',
      path: '/panel/api/clients/appLink/{id}',
      name: 'clients.appLink',
      doc: 'Returns an encrypted link to the subscription of a client, another one at every call. The setting appLinkEnable permits it.',
      params: shape({ id: int().min(1).example(1) }),
      reply: payload(shape({ encryptedLink: text() })),
      errors: [clientErrors.NOT_FOUND, errors.OFF, errors.SOURCE_TOO_LONG, errors.INVALID_SOURCE],
      // No wait in here: what is checked holds for the link.
      handle: ({ params: { id }, host }) => {
        if (!settings.read().appLinkEnable)
          throw errors.OFF('app links are off; set appLinkEnable', { path: 'appLinkEnable' });
        const client = clients.byId(id);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client with the id ${id}`, { path: 'id' });
        const source = subscription.url(STANDARD, client, host);
        if (source === undefined)
          throw errors.OFF('an app link opens a subscription, and they are off; set subEnable', {
            path: 'subEnable',
          });
        checkSource(source);
        return { encryptedLink: encryptedLink(source, key) };
      },
    }),
  ],
});
