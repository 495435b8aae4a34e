// The web page of the panel: files that a browser loads, from the folder that the build has made.
import { fileURLToPath } from 'node:url';
import { definePlugin, route, shape, text } from '../../kernel/index.js';
import { PageFolder } from './page-folder.js';
import { toPage } from './to-page.js';

const SITE = fileURLToPath(new URL('./site', import.meta.url));

export default definePlugin({
  name: 'web-ui',
  version: '0.1.0',
  api: 1,
  about: 'The web page on which admins manage the panel.',
  routes: () => [
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
