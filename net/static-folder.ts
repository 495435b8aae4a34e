// The files of one folder over HTTP (RFC 9110 and 9111), by Express' own `send`: ranges, HEAD, conditional requests.
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
  /** Sent in place of what is not there when a browser asks for a page, such as `index.html`: for pages that have their own paths. */
  readonly fallback?: string | undefined;
  /** Directives of the Content-Security-Policy, beside or in place of the strict ones: `{ 'img-src': "'self' data:" }`. */
  readonly policy?: Readonly<Record<string, string>> | undefined;
  /** shared caches may keep what never changes */
  readonly isPublic: boolean;
}

const STRICT: Readonly<Record<string, string>> = {
  'default-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};
/** A name that changes with what is in the file, as bundlers give: `index-BkH2x9aZ.js`, `app.3f2504e0.css`. */
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
  /** by file: the digest of what it held when it had these facts */
  readonly #etags = new Map<string, { readonly facts: string; readonly etag: string }>();

  /** Throws where the folder is not there, and for a policy that is none. */
  constructor(options: StaticFolderOptions) {
    if (!isAbsolute(options.folder))
      throw new StaticFolderError(
        `the folder "${options.folder}" must be an absolute path: fileURLToPath(new URL('./page', import.meta.url))`,
      );
    if (!existsSync(options.folder))
      throw new StaticFolderError(`the folder ${options.folder} is not there; was it built?`);
    this.#options = options;
    this.#policy = policyOf(options.policy ?? {});
  }

  /**
   * Sends the file at a path within the folder, `index.html` for a folder in it; false where there is none. Dotfiles and
   * what lies outside of the folder, be it by a symbolic link, are not there. Resolves when it is sent or given up.
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
    if (!HASHED.test(path)) return 'no-cache';
    return `${this.#options.isPublic ? 'public' : 'private'}, max-age=${YEAR}, immutable`;
  }

  /** Of what is in the file: packages from npm have one time for all files, and a new version may be as long as the old. */
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

/** A browser that goes to a page, not a program or a page that misses one of its files. */
const asksForPage = ({ headers }: IncomingMessage, path: string): boolean =>
  (headers.accept ?? '').includes('text/html') && !/\.[^/]*$/.test(path);

/** False where the file went away meanwhile. */
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
      // With the one time of npm's packages a page would count as unchanged for ever.
      lastModified: false,
    })
      .on('error', (error: Error & { status?: number; headers?: Record<string, string> }) => {
        const { status = 500, headers = {} } = error;
        if (status === 404) return resolve(false);
        if (status >= 500) return reject(error);
        // 412 and 416 (RFC 9110, 13.1 and 14.2) say all with their status.
        response.statusCode = status;
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        response.end();
      })
      .pipe(response);
  });
}
