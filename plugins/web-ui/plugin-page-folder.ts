// Sends the files of the pages of plugins, for frames without an origin: no cookie is needed, none is of use.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Contributed, staticFiles } from '../../kernel/index.js';
import type { PluginPage } from './contract.js';
import { FRAME_SCRIPT } from './frame-script.js';

/** For the frame: its own files only, no network, no frames within. `sandbox` holds also when a browser opens the address itself. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'self'",
  'object-src': "'none'",
  sandbox: 'allow-scripts',
};
const TYPES = /^\.(?:html|js|mjs|css|json|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|txt)$/;
const MOST_BYTES = 4 * 1024 * 1024;
/** The client of the bridge, beside the pages: `<script src="../../weir-page.js">`. */
const SCRIPT = 'weir-page.js';

interface Folder {
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean>;
}

export class PluginPageFolder implements Folder {
  readonly #pages = new Map<string, { readonly folder: string; readonly files: Folder }>();

  constructor(pages: readonly Pick<Contributed<PluginPage>, 'plugin' | 'value'>[]) {
    for (const { plugin, value } of pages) {
      const { reply } = staticFiles({
        path: '/panel/plugin-pages/',
        folder: value.folder,
        auth: 'anyone',
        doc: '',
        policy: POLICY,
      });
      if (reply.kind !== 'folder') throw new Error('staticFiles makes routes of another kind');
      this.#pages.set(`${plugin}/${value.key}`, { folder: value.folder, files: reply.folder });
    }
  }

  async send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    if (path === SCRIPT) return sendScript(request, openToFrames(response));
    const [plugin = '', key = '', ...rest] = path.split('/');
    const page = this.#pages.get(`${plugin}/${key}`);
    const file = rest.join('/');
    if (!page || !TYPES.test(extname(file).toLowerCase())) return false;
    // The folder itself checks where the path leads; a file that is not there has no size.
    const facts = await stat(join(page.folder, file)).catch(() => undefined);
    if (!facts?.isFile() || facts.size > MOST_BYTES) return false;
    return page.files.send(request, openToFrames(response), file);
  }
}

/** A frame without an origin is another site than the panel, for a browser. */
function openToFrames(response: ServerResponse): ServerResponse {
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.removeHeader('Origin-Agent-Cluster');
  return response;
}

function sendScript(request: IncomingMessage, response: ServerResponse): true {
  const body = Buffer.from(FRAME_SCRIPT, 'utf8');
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/javascript; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.end(request.method === 'HEAD' ? undefined : body);
  return true;
}
