// The index of releases, from the address that an admin has set; verified, and never older than one before.
import { type Clock, type LiveSettings, messageOf } from '../../kernel/index.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../outgoing/contract.js';
import { errors } from './errors.js';
import { MOST_SIGNATURE } from './minisign.js';
import { MOST_INDEX, type ReleaseIndex, readIndex } from './release-index.js';
import type { SeenIndexes } from './seen-indexes.js';
import type { updateSettings } from './settings.js';
import type { ThisInstallation } from './this-installation.js';

const FRESH_MS = 15 * 60_000;
/** After a failure: a source that is down is not asked by each page. */
const RETRY_MS = 60_000;
const WHOLE_MS = 20_000;
const LONGEST_REASON = 500;

export interface SignedIndex {
  readonly index: ReleaseIndex;
  readonly bytes: Buffer;
  readonly signature: string;
}
interface Last {
  /** Unix ms */
  readonly at: number;
  readonly until: number;
  readonly result: Promise<SignedIndex>;
}

export class IndexSource {
  readonly #settings: LiveSettings<typeof updateSettings>;
  readonly #installation: ThisInstallation;
  readonly #seen: SeenIndexes;
  readonly #clock: Clock;
  readonly #fetch: OutgoingFetch | undefined;
  /** addresses of packages that a verified index has named */
  #packages: readonly string[] = [];
  #last: Last | undefined;
  readonly access: OutgoingAccess = {
    // Public releases redirect to the file store of GitHub.
    hosts: () => [
      ...(this.address === '' ? [] : [this.address]),
      ...this.#packages,
      '*.githubusercontent.com',
    ],
    limits: { connectMs: 10_000, firstByteMs: 20_000, redirects: 5 },
  };

  constructor(needs: {
    readonly settings: LiveSettings<typeof updateSettings>;
    readonly installation: ThisInstallation;
    readonly seen: SeenIndexes;
    readonly clock: Clock;
    readonly outgoing: OutgoingApi | undefined;
  }) {
    this.#settings = needs.settings;
    this.#installation = needs.installation;
    this.#seen = needs.seen;
    this.#clock = needs.clock;
    this.#fetch = needs.outgoing?.for(this.access);
  }

  get address(): string {
    return this.#settings.read().updateSource;
  }

  /** Why there is nothing to ask; undefined where there is. */
  async whyNotSetUp(): Promise<string | undefined> {
    if (this.address === '') return 'no source of releases is set; set updateSource';
    const keys = await this.#installation.keys(this.#settings.read().updateKey);
    return keys.length > 0
      ? undefined
      : 'no public key of releases is set; set updateKey, or WEIR_UPDATE_KEY';
  }

  /** The source, or the key, has changed. */
  forget(): void {
    this.#last = undefined;
  }

  /** Asked at most every fifteen minutes, and a minute after a failure. */
  recent(): Promise<SignedIndex> {
    const now = this.#clock.now();
    // A clock that was set back must not make an old answer last.
    if (this.#last && now < this.#last.until && now >= this.#last.at) return this.#last.result;
    return this.ask();
  }

  /** Asks now. */
  ask(): Promise<SignedIndex> {
    const now = this.#clock.now();
    const result = this.#read();
    const last: Last = { at: now, until: now + FRESH_MS, result };
    this.#last = last;
    result.catch(() => {
      if (this.#last === last) this.#last = { at: now, until: now + RETRY_MS, result };
    });
    return result;
  }

  async #read(): Promise<SignedIndex> {
    const missing = await this.whyNotSetUp();
    if (missing !== undefined) throw errors.NOT_SET_UP(missing);
    try {
      const address = new URL(this.address);
      const beside = new URL(address);
      beside.pathname += '.minisig';
      const bytes = await this.#get(address, MOST_INDEX);
      const signature = (await this.#get(beside, MOST_SIGNATURE)).toString('utf8');
      const keys = await this.#installation.keys(this.#settings.read().updateKey);
      const index = readIndex(bytes, signature, keys, this.#clock.now());
      await this.#seen.accept(index);
      return { index, bytes, signature };
    } catch (cause) {
      throw errors.SOURCE(
        `the releases of the panel cannot be read: ${messageOf(cause).slice(0, LONGEST_REASON)}`,
        { cause },
      );
    }
  }

  async #get(url: URL, maxBytes: number): Promise<Buffer> {
    const reply = await this.fetch(url, { limits: { wholeMs: WHOLE_MS, maxBytes } });
    if (reply.ok) return Buffer.from(await reply.arrayBuffer());
    await reply.body?.cancel();
    throw new Error(`${url.host} answered ${reply.status}`);
  }

  /** The address of a file that the verified index names. */
  addressOf(url: string): URL {
    const found = URL.canParse(url, this.address) ? new URL(url, this.address) : undefined;
    if (!found || (found.protocol !== 'https:' && found.protocol !== 'http:'))
      throw new Error(
        `the index of releases names the address ${JSON.stringify(url.slice(0, 200))}, which is not valid`,
      );
    this.#packages = [found.href];
    return found;
  }

  fetch: OutgoingFetch = (url, options = {}) => {
    if (!this.#fetch) throw new Error('the plugin outgoing, which calls other machines, is off; enable it');
    return this.#fetch(url, { ...options, headers: { 'user-agent': 'weir', ...options.headers } });
  };
}
