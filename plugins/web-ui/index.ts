// The web page of the panel: files that a browser loads, from the folder that the build has made.
import { fileURLToPath } from 'node:url';
import { definePlugin, list, payload, route, shape, text, word } from '../../kernel/index.js';
import { PluginPages } from './contract.js';
import { PageFolder } from './page-folder.js';
import { PluginPageFolder } from './plugin-page-folder.js';
import { toPage } from './to-page.js';

const SITE = fileURLToPath(new URL('./site', import.meta.url));

const pluginPage = shape({
  plugin: word(),
  key: word(),
  titles: list(shape({ language: word(), text: text() })),
  icon: word(),
  entry: word(),
  api: list(text()),
});

export default definePlugin({
  name: 'web-ui',
  version: '0.1.0',
  api: 1,
  about: 'The web page on which admins manage the panel.',
  routes: ({ contributions }) => [
    route({
      method: 'GET',
      path: '/panel/plugin-pages/{path*}',
      // As public as the files of the page: a frame without an origin sends no cookie.
      auth: 'anyone',
      doc: 'The files of the pages of plugins, and `weir-page.js`, their side of the bridge.',
      params: shape({ path: text() }),
      reply: { kind: 'folder', folder: new PluginPageFolder(contributions(PluginPages)) },
      handle: () => undefined as never,
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/web-ui/pages',
      name: 'webUi.pages',
      doc: 'The pages that plugins add to the menu of the web page, with the calls that each may ask for.',
      reply: payload(list(pluginPage)),
      handle: () =>
        contributions(PluginPages).map(({ plugin, value }) => {
          const { key, title, icon, entry = 'index.html', api = [] } = value;
          const titles = Object.entries(title).map(([language, words]) => ({ language, text: words }));
          return { plugin, key, titles, icon, entry, api: [...api] };
        }),
    }),
    route({
      method: 'GET',
      path: '/panel/{path*}',
      // The files are those of every Weir. What they show asks for a login, which the page offers.
      auth: 'anyone',
      doc: 'The web page of the panel.',
      params: shape({ path: text() }),
      reply: { kind: 'folder', folder: new PageFolder(SITE) },
      handle: () => undefined as never,
    }),
    ...['/', '/panel'].map((path) =>
      route({
        method: 'GET',
        path,
        auth: 'anyone',
        doc: 'Leads a browser to the web page.',
        reply: { kind: 'folder', folder: toPage },
        handle: () => undefined as never,
      }),
    ),
  ],
});
