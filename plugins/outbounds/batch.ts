// Tests outbounds in one core. What the core rejects is left out; when an outbound crashes it, the others are tested without.
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Candidate } from './candidates.js';
import { failuresIn } from './core-words.js';
import { type Egress, egressOf, type Traces } from './egress.js';
import { probe, type Probed } from './probe.js';
import { testConfig, type TestConfig } from './test-config.js';
import type { StartedCore, TestCore } from './test-core.js';

/** The core's exit is known a moment after its connections are closed. */
const EXIT_KNOWN_MS = 300;

export interface Fetch {
  readonly url: URL;
  readonly warm: boolean;
  /** where the address is asked under which an outbound is seen; undefined when it is not asked */
  readonly traces?: Traces | undefined;
}
/** The result of one outbound. */
export interface Measured extends Probed {
  readonly egress?: Egress;
}
type Results = Map<string, Measured>;
type Core = Pick<TestCore, 'prepare' | 'rejection' | 'start' | 'stop'>;

const failed = (error: string): Measured => ({ success: false, delay: 0, error });

export class Batch {
  readonly #core: Core;
  readonly #fetch: Fetch;
  readonly #signal: AbortSignal;
  readonly #password = randomBytes(18).toString('hex');

  constructor(core: Core, fetch: Fetch, signal: AbortSignal) {
    this.#core = core;
    this.#fetch = fetch;
    this.#signal = signal;
  }

  /** Resolves with a result for each, by tag. Rejects when no core can be started at all. */
  async run(candidates: readonly Candidate[]): Promise<Results> {
    const results: Results = new Map();
    const socket = await this.#core.prepare();
    try {
      await this.#test(candidates, socket, results);
    } finally {
      await this.#core.stop();
    }
    return results;
  }

  #config(candidates: readonly Candidate[], socket: string): TestConfig {
    return testConfig(candidates, { socket, password: this.#password });
  }

  async #test(candidates: readonly Candidate[], socket: string, results: Results): Promise<void> {
    if (candidates.length === 0 || this.#signal.aborted) return;
    const config = this.#config(candidates, socket);
    const core = await this.#core.start(config.config, socket);
    if (typeof core === 'string') {
      const accepted = await this.#accepted(candidates, socket, results);
      if (accepted.length < candidates.length) return this.#test(accepted, socket, results);
      // The core accepts them, and does not start with them.
      if (candidates.length > 1) return this.#halves(candidates, socket, results);
      for (const { tag } of candidates) results.set(tag, failed(`the core does not start with it: ${core}`));
      return;
    }
    await this.#probeAll(core, config, candidates, results);
    const left = candidates.filter(({ tag }) => !results.has(tag));
    if (left.length === 0) return;
    await this.#core.stop();
    const [only] = left;
    if (candidates.length === 1 && only)
      results.set(only.tag, failed(`the core crashes with it: ${core.death ?? 'it exited'}`));
    else await this.#halves(left, socket, results);
  }

  async #halves(candidates: readonly Candidate[], socket: string, results: Results): Promise<void> {
    const half = Math.ceil(candidates.length / 2);
    await this.#test(candidates.slice(0, half), socket, results);
    await this.#core.stop();
    await this.#test(candidates.slice(half), socket, results);
  }

  /** Sets no result where the core exited first. */
  async #probeAll(
    core: StartedCore,
    { logins, tags }: TestConfig,
    candidates: readonly Candidate[],
    results: Results,
  ): Promise<void> {
    const dead = new AbortController();
    void core.died.then(() => dead.abort());
    const signal = AbortSignal.any([dead.signal, this.#signal]);
    // Each asks at most twice at a time.
    setMaxListeners(2 * candidates.length + 1, signal);
    const probed = await Promise.all(
      candidates.map(({ tag }) =>
        this.#measure({ socket: core.socket, login: logins.get(tag) ?? '' }, signal),
      ),
    );
    const isBroken = probed.some(({ success }) => !success);
    if (isBroken) await Promise.race([core.died, sleep(EXIT_KNOWN_MS)]);
    const reasons = isBroken ? failuresIn(await core.output()) : new Map<string, string>();
    const byTag = new Map([...reasons].map(([name, reason]) => [tags.get(name), reason]));
    candidates.forEach(({ tag }, at) => {
      const result = probed[at];
      if (!result || (!result.success && core.death !== undefined && !this.#signal.aborted)) return;
      const reason = byTag.get(tag);
      results.set(
        tag,
        result.success || reason === undefined ? result : { ...result, error: `${result.error}: ${reason}` },
      );
    });
  }

  /** The address is asked for after the figures, so that it does not change them. */
  async #measure(through: { socket: string; login: string }, signal: AbortSignal): Promise<Measured> {
    const { url, warm, traces } = this.#fetch;
    const figures = await probe({ ...through, url, warm }, signal);
    const egress = traces && figures.success ? await egressOf({ ...through, traces }, signal) : undefined;
    return egress ? { ...figures, egress } : figures;
  }

  /** Sets the reasons of those that the core rejects, and returns the others. Both halves are asked at once: a test run takes about 100 ms. */
  async #accepted(
    candidates: readonly Candidate[],
    socket: string,
    results: Results,
  ): Promise<readonly Candidate[]> {
    const { config, tags } = this.#config(candidates, socket);
    const reason = await this.#core.rejection(config);
    if (reason === undefined) return candidates;
    const [first, ...others] = candidates;
    if (first && others.length === 0) {
      results.set(first.tag, failed(`the core rejects it: ${named(reason, tags, first.tag)}`));
      return [];
    }
    const half = Math.ceil(candidates.length / 2);
    const accepted = await Promise.all([
      this.#accepted(candidates.slice(0, half), socket, results),
      this.#accepted(candidates.slice(half), socket, results),
    ]);
    return accepted.flat();
  }
}

/** The core's reason with our tags; without that of the outbound itself. */
const named = (reason: string, tags: ReadonlyMap<string, string>, own: string): string =>
  reason.replace(/\boutbound (o\d+): /, (whole, name: string) => {
    const tag = tags.get(name);
    return tag === undefined ? whole : tag === own ? '' : `outbound ${tag}: `;
  });
