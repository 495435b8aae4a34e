// Serves the files of a folder over HTTP (RFC 9110 and 9111), with Express's own `send`: ranges, HEAD, conditional requests.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAbsolute, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import send from 'send';

export interface StaticFolderOptions {
  /** absolute */
  readonly folder: string;
  /** Sent instead of a missing file when a browser asks for a page, such as `index.html`: for pages with client-side paths. */
  readonly fallback?: string | undefined;
  /** Directives that extend or replace the strict Content-Security-Policy: `{ 'img-src': "'self' data:" }`. */
  readonly policy?: Readonly<Record<string, string>> | undefined;
  /**
   * Each name has a digest of the content, so all are stored for a year. Without it names are looked at, and one without a
   * digit, which may be a word, is not stored.
   */
  readonly namesHaveDigests?: boolean | undefined;
  /** shared caches may store files that never change */
  readonly isPublic: boolean;
}

const STRICT: Readonly<Record<string, string>> = {
  'default-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};
/** A name that changes with the content, as bundlers make: `index-BkH2x9aZ.js`, `app.3f2504e0.css`. */
const HASHED = /[-.](?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}\.\w+$/;
const YEAR = 31_536_000;

function policyOf(own: Readonly<Record<string, string>>): string {
  const directives = Object.entries({ ...STRICT, ...own });
  for (const [name, value] of directives)
    if (!/^[a-z-]+$/.test(name) || !/^[\x21-\x2b\x2d-\x3a\x3c-\x7e ]*$/.test(value))
      throw new Error(`"${name} ${value}" is not a directive of a Content-Security-Policy (CSP 3, 2.2)`);
  return directives.map(([name, value]) => `${name} ${value}`.trim()).join('; ');
}

interface Target {
  /** below the real folder */
  readonly path: string;
  readonly facts: Stats;
}

/** A folder that cannot be served, whatever else happens. */
export class StaticFolderError extends Error {}

export class StaticFolder {
  readonly #options: StaticFolderOptions;
  readonly #policy: string;
  /** by file: the digest of its content when it had this time and size */
  readonly #etags = new Map<string, { readonly facts: string; readonly etag: string }>();

  /** Throws where the folder does not exist, and for an invalid policy. */
  constructor(options: StaticFolderOptions) {
    if (!isAbsolute(options.folder))
      throw new StaticFolderError(
        `the path of the folder "${options.folder}" must be absolute: fileURLToPath(new URL('./page', import.meta.url))`,
      );
    if (!existsSync(options.folder))
      throw new StaticFolderError(`the folder ${options.folder} does not exist; build it first`);
    this.#options = options;
    this.#policy = policyOf(options.policy ?? {});
  }

  /**
   * Sends the file at a path within the folder, `index.html` for a folder in it; false where there is none. Dotfiles and
   * anything outside of the folder, such as the target of a symbolic link, count as missing. Resolves when the file is sent or the caller is gone.
   */
  async send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const { folder, fallback } = this.#options;
    const root = await realpath(folder);
    const asked = await this.#find(root, path);
    const target =
      asked ??
      (fallback !== undefined && asksForPage(request, path) ? await this.#find(root, fallback) : undefined);
    if (!target) return false;
    const headers = {
      'Cache-Control': this.#cacheControl(target.path),
      'Content-Security-Policy': this.#policy,
      'X-Content-Type-Options': 'nosniff',
      ETag: await this.#etag(join(root, target.path), target.facts),
    };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (await sent(request, response, root, target.path)) return true;
    for (const name of Object.keys(headers)) response.removeHeader(name);
    return false;
  }

  async #find(root: string, path: string): Promise<Target | undefined> {
    const wanted = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    if (wanted.includes('\0') || wanted.split(/[/\\]/).some((segment) => segment.startsWith('.')))
      return undefined;
    try {
      const real = await realpath(join(root, wanted));
      if (!real.startsWith(root + sep)) return undefined;
      const facts = await stat(real);
      return facts.isFile() ? { path: real.slice(root.length + 1), facts } : undefined;
    } catch (error) {
      if (/^(?:ENOENT|ENOTDIR|ENAMETOOLONG|ELOOP|EACCES)$/.test((error as NodeJS.ErrnoException).code ?? ''))
        return undefined;
      throw error;
    }
  }

  #cacheControl(path: string): string {
    if (!this.#options.namesHaveDigests && !HASHED.test(path)) return 'no-cache';
    return `${this.#options.isPublic ? 'public' : 'private'}, max-age=${YEAR}, immutable`;
  }

  /** Depends on the content: all files of an npm package have the same time, and a new version may have the same length. */
  async #etag(file: string, { size, mtimeMs, ctimeMs, ino }: Stats): Promise<string> {
    const facts = [size, mtimeMs, ctimeMs, ino].join();
    const known = this.#etags.get(file);
    if (known?.facts === facts) return known.etag;
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    const etag = `"${hash.digest('base64url').slice(0, 27)}"`;
    this.#etags.set(file, { facts, etag });
    return etag;
  }
}

/** Whether a browser navigates to a page. False for programs, and for a page that misses one of its files. */
const asksForPage = ({ headers }: IncomingMessage, path: string): boolean =>
  (headers.accept ?? '').includes('text/html') && path.lastIndexOf('.') <= path.lastIndexOf('/');

/** False where the file was deleted meanwhile. */
function sent(
  request: IncomingMessage,
  response: ServerResponse,
  root: string,
  path: string,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    response.once('close', () => resolve(true));
    send(request, path.split(sep).map(encodeURIComponent).join('/'), {
      root,
      index: false,
      cacheControl: false,
      etag: false,
      // All files of an npm package have the same time, so a page would count as unchanged forever.
      lastModified: false,
    })
      .on('error', (error: Error & { status?: number; headers?: Record<string, string> }) => {
        const { status = 500, headers = {} } = error;
        if (status === 404) return resolve(false);
        if (status >= 500) return reject(error);
        // The status says all for 412 and 416 (RFC 9110, 13.1 and 14.2).
        response.statusCode = status;
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        response.end();
      })
      .pipe(response);
  });
}
