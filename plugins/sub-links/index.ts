// Share links, one a line: the format that every client program reads.
import { bool, definePlugin, extend, list, payload, route, shape, text, urlPath, word } from '../../kernel/index.js';
import { clientErrors, Clients } from '../clients/contract.js';
import { setting, SettingGroups, Settings } from '../settings/contract.js';
import { encodeFragment, type Format, Formats, randomPath, Subscription } from '../subscription/contract.js';

const FORMAT = 'links';

export const linkSettings = {
  subPath: setting(urlPath().min(2), randomPath, 'path prefix of share links'),
  subEncrypt: setting(bool(), true, 'the list is sent as one base64 text, as most client programs expect'),
} as const;

export default definePlugin({
  name: 'sub-links',
  version: '0.1.0',
  api: 1,
  about: 'The standard format of subscriptions: share links.',
  uses: { settings: Settings, clients: Clients, subscription: Subscription },
  extends: ({ settings }) => [
    extend(SettingGroups, { group: linkSettings }),
    extend(Formats, {
      name: FORMAT,
      contentType: 'text/plain; charset=utf-8',
      prefix: () => settings.read(linkSettings).subPath,
      compile: ({ inbound, protocol }) => {
        const link = protocol.link(inbound);
        return ({ client, authority, remark }) => link({ client, authority, fragment: remark === '' ? '' : `#${encodeFragment(remark)}` });
      },
      body: (links) => {
        const plain = links.map((link) => `${link}\n`).join('');
        return settings.read(linkSettings).subEncrypt ? Buffer.from(plain, 'utf8').toString('base64') : plain;
      },
    } satisfies Format),
  ],
  routes: ({ clients, subscription }) => [
    route({
      method: 'GET', path: '/panel/api/clients/links/{email}', doc: 'Share links of one client, under the names that a panel shows.',
      params: shape({ email: word() }), reply: payload(list(text())), errors: [clientErrors.NOT_FOUND],
      handle: ({ params, host }) => {
        const client = clients.byEmail(params.email);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client ${params.email}`, { path: 'email' });
        return subscription.entries(FORMAT, client, host);
      },
    }),
  ],
});
