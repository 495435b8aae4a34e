// Sends the files of the page: packed as the browser takes them, and index.html for each path of the page's own.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { staticFiles } from '../../kernel/index.js';
import { type Encoding, ENCODINGS, encodingFor } from './encoding.js';
import { asksForPage } from './to-page.js';

/** Only what comes from this panel. React Aria writes a few styles, which the nonce allows. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "frame-src 'self'",
    "img-src 'self' data:",
    `style-src 'self' 'nonce-${nonce}'`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "object-src 'none'",
  ].join('; ');
/** Paths below /panel/ that belong to calls and to pages of other plugins. */
const OTHERS = /^(?:api|x)(?:\/|$)/;
/** An encoded slash is one folder for a browser and two for the path: the base would lead beside the page. */
const ENCODED_SLASH = /%(?:2f|5c)/i;
const ASSETS = 'assets/';
const BASE = '<!--base-->';
const NONCE = '%NONCE%';

type Folder = { send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> };

function folderOf(path: string): Folder {
  const { reply } = staticFiles({
    path: '/panel/',
    folder: path,
    auth: 'anyone',
    // Some digests are letters only.
    namesHaveDigests: true,
    doc: '',
  });
  if (reply.kind !== 'folder') throw new Error('staticFiles makes routes of another kind');
  return reply.folder;
}

export class PageFolder implements Folder {
  readonly #site: string;
  /** the same files, packed in each way */
  readonly #folders: Readonly<Record<Encoding, Folder>>;
  #template: Promise<string> | undefined;

  /** `site` is the folder that bin/web-page.mjs makes. */
  constructor(site: string) {
    this.#site = site;
    this.#folders = Object.fromEntries(
      ENCODINGS.map((encoding) => [encoding, folderOf(join(site, encoding))]),
    ) as Record<Encoding, Folder>;
  }

  /** False where there is nothing: for paths of others, for a missing file, and for programs that ask for a path of the page. */
  async send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    if (OTHERS.test(path)) return false;
    if (path.startsWith(ASSETS)) return this.#asset(request, response, path);
    if (path !== '' && !asksForPage(request)) return false;
    if (ENCODED_SLASH.test(request.url?.split('?')[0] ?? '')) return false;
    await this.#page(request, response, path);
    return true;
  }

  async #asset(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const encoding = encodingFor(request.headers['accept-encoding']);
    response.setHeader('Vary', 'Accept-Encoding');
    if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
    if (await this.#folders[encoding].send(request, response, path)) return true;
    response.removeHeader('Content-Encoding');
    return false;
  }

  /** `<base>` is relative, so the files are found below each base path and behind a proxy that changes paths. */
  async #page(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const template = await (this.#template ??= this.#read());
    const nonce = randomBytes(16).toString('base64');
    const base = '../'.repeat(path.split('/').length - 1) || './';
    const html = Buffer.from(
      template.replace(BASE, `<base href="${base}" />`).replaceAll(NONCE, nonce),
      'utf8',
    );
    response.statusCode = 200;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Length', html.length);
    response.setHeader('Content-Security-Policy', policyWith(nonce));
    // Each reply has another nonce.
    response.setHeader('Cache-Control', 'no-cache');
    response.end(request.method === 'HEAD' ? undefined : html);
  }

  async #read(): Promise<string> {
    const text = await readFile(join(this.#site, 'index.html'), 'utf8');
    if (!text.includes(BASE) || !text.includes(NONCE))
      throw new Error(`${this.#site}/index.html has no ${BASE} or no ${NONCE}; build it again`);
    return text;
  }
}
