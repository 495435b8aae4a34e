// Share links, one per line: the format that every client program reads.
import {
  bool,
  definePlugin,
  contribute,
  list,
  LongList,
  payload,
  route,
  shape,
  text,
  urlPath,
  word,
  setting,
  type SettingValues,
  inSection,
} from '../../kernel/index.js';
import { clientErrors, Clients } from '../clients/contract.js';
import { cannotLink, compileLink } from './link.js';
import {
  checkedText,
  encodeFragment,
  Formats,
  type ListFormat,
  randomPath,
  Subscription,
} from '../subscription/contract.js';

const FORMAT = 'links';
/** Clients of which the links are made at once. */
const PORTION = 16;

const routing = () =>
  checkedText((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isLine = /^[\x21-\x7e]*$/.test(value);
    const isRouting = url?.protocol === 'incy:' || (url?.protocol === 'https:' && url.username === '');
    if (value !== '' && !(isLine && isRouting))
      throw new Error('it must be one line that begins with incy:// or https://, without spaces');
  }, 8192);

export const linkSettings = inSection(
  'Share links',
  {
    subPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of share links'),
    subIncyEnableRouting: setting(bool(), false, 'end the list with the routing of app I'),
    subIncyRoutingRules: setting(
      routing(),
      '',
      'that routing: a link of the app (incy://…), or the https URL of a profile, which the app fetches by itself',
      { when: { field: 'subIncyEnableRouting' } },
    ),
    subEncrypt: setting(bool(), true, 'send the list as one base64 text, as most client programs expect'),
  },
  { level: 'advanced' },
);

/** The last line of the list; other programs skip what is no server. */
function routingLine({
  subIncyEnableRouting,
  subIncyRoutingRules,
}: SettingValues<typeof linkSettings>): string {
  if (!subIncyEnableRouting || subIncyRoutingRules === '') return '';
  const isUrl = subIncyRoutingRules.startsWith('https:');
  return `${isUrl ? 'incy://autorouting/onadd/' : ''}${subIncyRoutingRules}\n`;
}

/** Buffer for the base64 encoding of the list: a new buffer for every fetch would cost more than the rest of the encoding. */
const room = Buffer.allocUnsafeSlow(65_536);
const base64 = (text: string): string =>
  3 * text.length <= room.length
    ? room.toString('base64', 0, room.write(text))
    : Buffer.from(text).toString('base64');

export default definePlugin({
  name: 'sub-links',
  version: '0.1.0',
  api: 1,
  about: 'The standard format of subscriptions: share links.',
  uses: { clients: Clients, subscription: Subscription },
  settings: linkSettings,
  contributes: ({ settings }) => [
    contribute(Formats, {
      name: FORMAT,
      contentType: 'text/plain; charset=utf-8',
      prefix: () => settings.read().subPath,
      pathSetting: 'subPath',
      cannot: cannotLink,
      compile: (entry) => {
        const link = compileLink(entry);
        const { description = '' } = entry;
        const tail = description && `?serverDescription=${Buffer.from(description).toString('base64')}`;
        // Most links of an entry have the same name for all clients.
        let last = '';
        let fragment = tail && `#${tail}`;
        return ({ client, server, authority, name }) => {
          if (name !== last) {
            const shown = name + tail;
            fragment = shown === '' ? '' : `#${encodeFragment(shown)}`;
            last = name;
          }
          return link({ client, server, authority, name, fragment });
        };
      },
      note: (name) => `socks://127.0.0.1:1080#${encodeFragment(name)}`,
      body: (links) => {
        let plain = '';
        for (const link of links) plain += `${link}\n`;
        const values = settings.read();
        if (links.length > 0) plain += routingLine(values);
        return values.subEncrypt ? base64(plain) : plain;
      },
    } satisfies ListFormat),
  ],
  routes: ({ clients, subscription }) => [
    route({
      method: 'GET',
      path: '/panel/api/clients/links/{email}',
      name: 'clients.links',
      doc: 'Returns the share links of one client, with the names for the panel.',
      params: shape({ email: word().example('ada@example.org') }),
      reply: payload(list(text())),
      errors: [clientErrors.NOT_FOUND],
      handle: ({ params, host }) => {
        const client = clients.byEmail(params.email);
        if (!client) throw clientErrors.NOT_FOUND(`there is no client ${params.email}`, { path: 'email' });
        return subscription.entries(FORMAT, client, host);
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/clients/subLinks/{subId}',
      name: 'clients.subLinks',
      doc: 'Returns the share links of the client with this subId, or of all clients that share it, whether or not they may use them now; an empty list when there is none.',
      params: shape({ subId: word().example('ada') }),
      reply: payload(list(text())),
      handle: ({ params, host }) => subscription.entriesOfSubId(FORMAT, params.subId, host),
    }),
    route({
      method: 'GET',
      path: '/panel/api/inbounds/allLinks',
      name: 'inbounds.allLinks',
      doc: 'Returns the share links of all clients over all enabled inbounds.',
      reply: payload(list(text())),
      handle: ({ host }) => {
        const all = [...clients.all()];
        return new LongList(function* () {
          for (let from = 0; from < all.length; from += PORTION)
            yield all
              .slice(from, from + PORTION)
              .flatMap((client) => subscription.entries(FORMAT, client, host, 'inbounds'));
        });
      },
    }),
  ],
});
