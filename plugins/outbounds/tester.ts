// Tests outbounds: chooses what can be tested, and how. Of both kinds of tests one batch runs after another.
import { type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { CoreTemplateApi } from '../core-template/contract.js';
import type { CoreOutboundsApi, JsonObject } from '../engine/contract.js';
import { Batch, type Measured } from './batch.js';
import { type Candidate, candidatesOf, isDialedDirectly } from './candidates.js';
import { dialAll, type Endpoint } from './dial.js';
import { TRACES, type Traces } from './egress.js';
import { errors } from './errors.js';
import { serversOf, usesUdp } from './outbound-json.js';
import type { TestCore } from './test-core.js';

export const MODES = ['tcp', 'http', 'real'] as const;
export type Mode = (typeof MODES)[number];

/** The result of one outbound. */
export interface Tested extends Measured {
  readonly tag: string;
  readonly mode: Mode;
  readonly endpoints?: readonly Endpoint[];
}
export interface Asked {
  readonly outbounds: readonly JsonObject[];
  /** others that they may dial through; undefined: those of the core's config */
  readonly all: readonly JsonObject[] | undefined;
  readonly mode: Mode;
  /** whether the address is asked for under which an outbound is seen, in mode `http` */
  readonly egress?: boolean;
}

interface Needs {
  readonly log: Log;
  readonly guard: CoreGuardApi;
  readonly template: CoreTemplateApi;
  readonly configured: CoreOutboundsApi | undefined;
  readonly core: TestCore;
  readonly settings: { read(): { readonly outboundTestEgress: boolean } };
}
/** A batch may take half a minute; a caller waits for so many at most. */
const MOST_WAITING = 4;

export class OutboundTester {
  readonly #needs: Needs;
  readonly #fetches = new Batches();
  readonly #dials = new Batches();
  readonly #stopped = new AbortController();
  readonly #traces: Traces;

  /** `traces` is for tests. */
  constructor({ log, guard, template, configured, core, settings }: Needs, traces: Traces = TRACES) {
    this.#needs = { log, guard, template, configured, core, settings };
    this.#traces = traces;
  }

  /** Ends the batch that runs, and all that wait. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Resolves with a result for each, in their order. Rejects with NO_CORE, CANNOT_TEST or BUSY. */
  async test({ outbounds, all, mode, egress = false }: Asked): Promise<Tested[]> {
    const { guard, configured } = this.#needs;
    const others = all ?? (await configured?.all()) ?? [];
    const chosen = await candidatesOf(guard, outbounds, others);
    const candidates = chosen.filter((one): one is Candidate => 'outbound' in one);
    const dialed = mode === 'tcp' ? candidates.filter((one) => isDialable(one)) : [];
    const fetched = candidates.filter((one) => !dialed.includes(one));
    const fetchMode = mode === 'tcp' ? 'http' : mode;
    const [endpoints, figures] = await Promise.all([
      dialed.length > 0 ? this.#dials.run(() => dialServers(dialed)) : [],
      fetched.length > 0 ? this.#fetch(fetched, fetchMode, egress) : new Map<string, Measured>(),
    ]);
    const byTag = new Map(dialed.map(({ tag }, at) => [tag, endpoints[at]]));
    return chosen.map((one) => {
      const { tag } = one;
      if (!('outbound' in one)) return { tag, mode, success: false, delay: 0, error: one.error };
      const servers = byTag.get(tag);
      if (servers) return { tag, mode, ...summaryOf(servers), endpoints: servers };
      const figure = figures.get(tag) ?? { success: false, delay: 0, error: 'the test was stopped' };
      return { tag, mode: fetchMode, ...figure };
    });
  }

  async #fetch(
    candidates: readonly Candidate[],
    mode: Mode,
    egress: boolean,
  ): Promise<Map<string, Measured>> {
    const { core, template, log, settings } = this.#needs;
    if (!core.isThere) throw errors.NO_CORE();
    return this.#fetches.run(async () => {
      try {
        const url = new URL(template.testUrl());
        const warm = mode === 'http';
        const isAsked = warm && egress && settings.read().outboundTestEgress;
        const fetch = { url, warm, ...(isAsked && { traces: this.#traces }) };
        return await new Batch(core, fetch, this.#stopped.signal).run(candidates);
      } catch (cause) {
        log.warn('outbounds could not be tested', { reason: messageOf(cause) });
        throw errors.CANNOT_TEST(`${errors.CANNOT_TEST.text}: ${messageOf(cause)}`, { cause });
      }
    });
  }
}

class Batches {
  readonly #queue = new SerialQueue();
  #waiting = 0;

  /** Rejects with BUSY when others wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) throw errors.BUSY();
    this.#waiting += 1;
    try {
      return await this.#queue.run(work);
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** A server that is reached through another one, or over UDP, says nothing to the panel. */
const isDialable = (candidate: Candidate): boolean =>
  isDialedDirectly(candidate) && !usesUdp(candidate.outbound) && serversOf(candidate.outbound).length > 0;

/** Resolves with the servers of each. */
async function dialServers(dialed: readonly Candidate[]): Promise<Endpoint[][]> {
  const servers = dialed.map(({ outbound }) => serversOf(outbound));
  const endpoints = (await dialAll(servers.flat())).values();
  return servers.map((own) => own.flatMap(() => endpoints.next().value ?? []));
}

function summaryOf(servers: readonly Endpoint[]): Pick<Tested, 'success' | 'delay' | 'error'> {
  const delays = servers.flatMap(({ success, delay }) => (success ? [delay] : []));
  if (delays.length > 0) return { success: true, delay: Math.min(...delays) };
  return { success: false, delay: 0, error: servers.map(({ error = '' }) => error).join('; ') };
}
