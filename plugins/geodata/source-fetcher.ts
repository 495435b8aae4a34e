// One geodata file from its source: only when it has changed, checked before it is complete.
import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type LiveSettings, messageOf } from '../../kernel/index.js';
import {
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { type AssetFiles, LARGEST_FILE } from './asset-files.js';
import { errors } from './errors.js';
import type { geodataSettings } from './settings.js';
import { shownUrl, type SourceRecord, type SourceRecords } from './source-records.js';

const DIGEST_LIMITS = { wholeMs: 20_000, maxBytes: 4096 };
const WHOLE_MS = 15 * 60_000;
const SILENCE_MS = 20_000;
const NOT_PUBLISHED = [403, 404, 410];

export interface Fetched {
  readonly name: string;
  readonly changed: boolean;
  /** SHA-256 of the file now */
  readonly sha256: string;
  /** the address of the published digest; empty where the source publishes none, and for a file that did not change */
  readonly digestFrom: string;
}

export class SourceFetcher {
  readonly #files: AssetFiles;
  readonly #records: SourceRecords;
  readonly #settings: LiveSettings<typeof geodataSettings>;
  readonly #fetch: OutgoingFetch | undefined;
  readonly access: OutgoingAccess = {
    // Public releases redirect to the file store of GitHub.
    hosts: () => [...Object.values(this.sources), '*.githubusercontent.com'],
    limits: { connectMs: 10_000, firstByteMs: 20_000, redirects: 5 },
  };

  constructor(needs: {
    readonly files: AssetFiles;
    readonly records: SourceRecords;
    readonly settings: LiveSettings<typeof geodataSettings>;
    readonly outgoing: OutgoingApi | undefined;
  }) {
    this.#files = needs.files;
    this.#records = needs.records;
    this.#settings = needs.settings;
    this.#fetch = needs.outgoing?.for(this.access);
  }

  get sources(): Readonly<Record<string, string>> {
    return this.#settings.read().geodataSources;
  }

  /** Rejects with an error of the plugin; the previous file stays then. */
  async update(name: string): Promise<Fetched> {
    const url = Object.hasOwn(this.sources, name) ? this.sources[name] : undefined;
    if (url === undefined)
      throw errors.NO_SOURCE(`${name} has no source in the setting geodataSources`, { path: 'filename' });
    try {
      return await this.#update(name, url);
    } catch (cause) {
      throw errors.DOWNLOAD(`${name} is not updated: ${messageOf(cause).slice(0, 500)}`, { cause });
    }
  }

  async #update(name: string, url: string): Promise<Fetched> {
    const file = await this.#files.find(name);
    const record = await this.#records.of(name, url, file);
    const silence = new Silence();
    try {
      const reply = await this.#get(url, {
        headers: conditionsOf(record),
        limits: { wholeMs: WHOLE_MS, maxBytes: LARGEST_FILE },
        signal: silence.signal,
      });
      if (reply.status === 304 && record && file) {
        await reply.body?.cancel();
        return { name, changed: false, sha256: record.sha256, digestFrom: '' };
      }
      if (!reply.ok) {
        await reply.body?.cancel();
        throw new Error(`${new URL(url).host} answered ${reply.status}`);
      }
      return await this.#take(name, url, reply, silence);
    } finally {
      silence.end();
    }
  }

  async #take(name: string, url: string, reply: Response, silence: Silence): Promise<Fetched> {
    const { folder } = this.#files;
    const draft = this.#files.draftOf(name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const sha256 = await write(draft, reply, silence);
      const digestFrom = await this.#confirm(url, sha256);
      const kind = await this.#files.open(draft, async (_, index) => index.kind);
      const expected = /^geo(ip|site)/i.exec(name)?.[1]?.toLowerCase();
      if (kind !== undefined && expected !== undefined && kind !== expected)
        throw new Error(`it holds ${kind === 'ip' ? 'addresses' : 'domains'}, which its name denies`);
      const before = await this.#files.find(name);
      const changed = before === undefined || (await this.#files.digest(before)) !== sha256;
      if (changed) {
        await rename(draft, join(folder, name));
        await touch(join(folder, name), reply.headers.get('last-modified'));
      }
      await this.#records.save(name, {
        url,
        sha256,
        etag: reply.headers.get('etag') ?? '',
        lastModified: reply.headers.get('last-modified') ?? '',
        fetchedAt: Date.now(),
      });
      return { name, changed, sha256, digestFrom };
    } finally {
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  /** Resolves with the address of the digest; rejects when it is another one. */
  async #confirm(url: string, sha256: string): Promise<string> {
    const address = new URL(url);
    address.pathname += '.sha256sum';
    const reply = await this.#get(address, { limits: DIGEST_LIMITS });
    if (NOT_PUBLISHED.includes(reply.status)) {
      await reply.body?.cancel();
      return '';
    }
    const text = reply.ok ? await reply.text() : '';
    const [expected] = /\b[0-9a-f]{64}\b/i.exec(text) ?? [];
    if (expected === undefined)
      throw new Error(`its digest at ${new URL(url).host} cannot be read (status ${reply.status})`);
    if (expected.toLowerCase() !== sha256)
      throw new Error(`it has the SHA-256 ${sha256}, but its source publishes ${expected.toLowerCase()}`);
    return shownUrl(address);
  }

  #get(url: string | URL, options: Parameters<OutgoingFetch>[1] = {}): Promise<Response> {
    if (!this.#fetch) throw new Error('the plugin outgoing, which calls other machines, is off; enable it');
    return this.#fetch(url, { ...options, headers: { 'user-agent': 'weir', ...options.headers } });
  }
}

function conditionsOf(record: SourceRecord | undefined): Record<string, string> {
  if (record?.etag) return { 'if-none-match': record.etag };
  return record?.lastModified ? { 'if-modified-since': record.lastModified } : {};
}

/** Resolves with the SHA-256 of what was written. */
async function write(path: string, reply: Response, silence: Silence): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    silence.restart();
    for await (const chunk of reply.body ?? []) {
      silence.restart();
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

/** The time of the source, so that other programs can ask for newer ones, too. */
async function touch(path: string, lastModified: string | null): Promise<void> {
  const time = new Date(lastModified ?? Number.NaN);
  if (!Number.isNaN(time.getTime())) await utimes(path, time, time).catch(() => undefined);
}

/** Aborts a download that sends nothing for a while. */
class Silence {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#controller.abort(new OutgoingError('time', `no data for ${SILENCE_MS / 1000} s`)),
      SILENCE_MS,
    );
  }
  end(): void {
    clearTimeout(this.#timer);
  }
}
