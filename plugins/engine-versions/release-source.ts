// What other machines say about releases of the core: which there are, their digests, their archives.
import { createHash } from 'node:crypto';
import { type LiveSettings, messageOf } from '../../kernel/index.js';
import { assetOf, type CoreProgramsApi, digestIn, thisMachine } from '../engine/contract.js';
import {
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { errors } from './errors.js';
import { DEFAULT_LIST, type sourceSettings } from './settings.js';
import { newestFirst, tagOf, versionOf } from './version.js';

const MOST_RELEASES = 1000;
const LIST_LIMITS = { wholeMs: 20_000, maxBytes: 8 * 1024 * 1024 };
const DIGEST_LIMITS = { wholeMs: 20_000, maxBytes: 64 * 1024 };
const LARGEST_ARCHIVE = 100 * 1024 * 1024;

export interface Patience {
  /** ms between two chunks of an archive */
  readonly silenceMs: number;
  /** ms for a whole archive */
  readonly wholeMs: number;
}
const PATIENCE: Patience = { silenceMs: 20_000, wholeMs: 15 * 60_000 };

export interface Archive {
  readonly bytes: Buffer;
  /** SHA-256 */
  readonly digest: string;
}
export interface Release {
  readonly version: string;
  readonly isPrerelease: boolean;
}

/** Tags that are no version of ours, and drafts, are left out. Throws when it is not a list. */
export function releasesIn(reply: unknown): Release[] {
  if (!Array.isArray(reply)) throw new Error('it is not a list of releases');
  const found = new Map<string, Release>();
  for (const entry of reply.slice(0, MOST_RELEASES) as unknown[]) {
    const {
      tag_name: tag,
      draft,
      prerelease,
    } = Object(typeof entry === 'string' ? { tag_name: entry } : entry) as {
      tag_name?: unknown;
      draft?: unknown;
      prerelease?: unknown;
    };
    const version = typeof tag === 'string' && draft !== true ? versionOf(tag) : undefined;
    if (version !== undefined && !found.has(version))
      found.set(version, { version, isPrerelease: prerelease === true });
  }
  return [...found.values()].sort((a, b) => newestFirst(a.version, b.version));
}

interface Needs {
  readonly outgoing: OutgoingApi | undefined;
  readonly programs: CoreProgramsApi | undefined;
  readonly settings: LiveSettings<typeof sourceSettings>;
}

export class ReleaseSource {
  readonly #settings: LiveSettings<typeof sourceSettings>;
  readonly #programs: CoreProgramsApi | undefined;
  readonly #fetch: OutgoingFetch | undefined;
  readonly access: OutgoingAccess = {
    // The public releases redirect to the file store of GitHub.
    hosts: () => [this.base, this.#list, '*.githubusercontent.com'],
    limits: { connectMs: 10_000, firstByteMs: 20_000, redirects: 5 },
  };

  constructor({ outgoing, programs, settings }: Needs) {
    this.#settings = settings;
    this.#programs = programs;
    this.#fetch = outgoing?.for(this.access);
  }

  /** Environment and config file take precedence over the setting. */
  get base(): string {
    const source = this.#programs?.source;
    const address = source?.isPinned ? source.releases : this.#settings.read().engineReleases;
    return address.replace(/\/+$/, '');
  }

  /** For people and logs: the rest of an address may hold secrets. */
  get name(): string {
    const { origin, pathname } = new URL(this.base);
    return `${origin}${pathname}`;
  }

  /** A mirror that the environment names has its own list; see operate.md. */
  get #list(): string {
    const { engineReleaseList } = this.#settings.read();
    return this.#programs?.source.isPinned && engineReleaseList === DEFAULT_LIST
      ? `${this.base}/releases.json`
      : engineReleaseList;
  }

  /** Newest first. */
  async releases(): Promise<Release[]> {
    try {
      const reply = await this.#get(this.#list, { limits: LIST_LIMITS, accept: 'application/json' });
      const releases = releasesIn(await reply.json());
      if (releases.length === 0) throw new Error('it names no release');
      return releases;
    } catch (cause) {
      throw errors.SOURCE(`the list of releases cannot be read: ${reasonOf(cause)}`, { cause });
    }
  }

  /** Resolves with the published SHA-256 of the archive. */
  async digest(version: string): Promise<string> {
    try {
      const reply = await this.#get(`${this.#archive(version)}.dgst`, { limits: DIGEST_LIMITS });
      const digest = digestIn(await reply.text());
      if (digest === undefined) throw new Error('it names no SHA-256');
      return digest;
    } catch (cause) {
      throw errors.ARCHIVE(`the digest of core ${version} cannot be read: ${reasonOf(cause)}`, { cause });
    }
  }

  /** Downloads the archive and hashes it on the way. */
  async archive(
    version: string,
    onBytes: (received: number, size: number) => void,
    patience: Patience = PATIENCE,
  ): Promise<Archive> {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(
        () => silence.abort(new OutgoingError('time', `no data for ${patience.silenceMs / 1000} s`)),
        patience.silenceMs,
      );
    };
    try {
      const reply = await this.#get(this.#archive(version), {
        limits: { wholeMs: patience.wholeMs, maxBytes: LARGEST_ARCHIVE },
        signal: silence.signal,
      });
      const size = Number(reply.headers.get('content-length') ?? 0) || 0;
      const hash = createHash('sha256');
      const chunks: Uint8Array[] = [];
      let received = 0;
      wait();
      for await (const chunk of reply.body ?? []) {
        wait();
        hash.update(chunk);
        chunks.push(chunk);
        received += chunk.length;
        onBytes(received, size);
      }
      return { bytes: Buffer.concat(chunks), digest: hash.digest('hex') };
    } catch (cause) {
      throw errors.ARCHIVE(`core ${version} cannot be downloaded: ${reasonOf(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  #archive(version: string): string {
    const machine = thisMachine();
    const asset = assetOf(machine);
    if (asset === undefined)
      throw new Error(`no release is known for ${machine.platform} on ${machine.arch}`);
    return `${this.base}/${tagOf(version)}/${asset}`;
  }

  async #get(
    url: string,
    {
      limits,
      signal,
      accept = '*/*',
    }: {
      readonly limits: { readonly wholeMs: number; readonly maxBytes: number };
      readonly signal?: AbortSignal;
      readonly accept?: string;
    },
  ): Promise<Response> {
    if (!this.#fetch) throw new Error('the plugin outgoing, which calls other machines, is off; enable it');
    const reply = await this.#fetch(url, {
      headers: { 'user-agent': 'weir', accept },
      limits,
      ...(signal && { signal }),
    });
    if (reply.ok) return reply;
    await reply.body?.cancel();
    throw new Error(`${new URL(url).host} answered ${reply.status}`);
  }
}

const reasonOf = (error: unknown): string => messageOf(error).slice(0, 500);
