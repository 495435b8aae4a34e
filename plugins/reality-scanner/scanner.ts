// Scans one server, or a list of them, within limits on time and on how many run at once.
import { isIP } from 'node:net';
import { type LiveSettings, type Log, messageOf } from '../../kernel/index.js';
import type { OutgoingAccess, OutgoingApi } from '../outgoing/contract.js';
import { errors } from './errors.js';
import { Prober, type ProbeOptions } from './probe.js';
import type { ScanResult } from './scan-result.js';
import { BUILT_IN, type scannerSettings } from './settings.js';
import { Slots } from './slots.js';
import { type Scanned, summaryOf } from './summary.js';
import { hostIn, targetOf } from './target.js';
import { entriesIn, type Task, taskListOf } from './task-list.js';

/** As many connections as the plugin `outgoing` opens at once for a plugin: none waits there, where waiting counts as silence. */
const CONNECTIONS = 8;
/** For lists; one is left for scans of single servers. */
const AT_ONCE = 7;
/** Scans of single servers that run or wait. */
const MOST_SINGLE = 16;
const MOST_LISTS = 2;

export interface ScanLimits {
  /** of one server, in ms */
  readonly name: number;
  /** of an address in a list, in ms */
  readonly address: number;
  /** of a whole list, in ms */
  readonly list: number;
}
const LIMITS: ScanLimits = { name: 10_000, address: 4_000, list: 300_000 };

/** How a single server is scanned. */
export interface Asked extends Required<Pick<ProbeOptions, 'header' | 'allowPrivate'>> {
  /** the name to ask for; blank for that of the target */
  readonly sni: string;
}
interface Progress {
  readonly signal: AbortSignal;
  readonly progressed: () => void;
}
class ListOver extends Error {}

export class RealityScanner {
  readonly #prober: Prober | undefined;
  readonly #settings: LiveSettings<typeof scannerSettings>;
  readonly #limits: ScanLimits;
  readonly #log: Log;
  readonly #connections = new Slots(CONNECTIONS);
  readonly #slots = new Slots(AT_ONCE);
  readonly access: OutgoingAccess;
  #lists = 0;
  #single = 0;

  constructor(
    {
      outgoing,
      settings,
      log,
    }: { outgoing: OutgoingApi | undefined; settings: LiveSettings<typeof scannerSettings>; log: Log },
    limits: ScanLimits = LIMITS,
  ) {
    this.#prober = outgoing && new Prober(outgoing);
    this.access = this.#prober?.access ?? { hosts: [] };
    this.#settings = settings;
    this.#log = log;
    this.#limits = limits;
  }

  async one(given: string, asked: Asked, signal: AbortSignal): Promise<ScanResult> {
    const prober = this.#ready();
    const { sni, ...options } = asked;
    const target = read('target', () => targetOf(given));
    const name = sni.trim() === '' ? undefined : read('sni', () => nameIn(sni.trim()));
    if (this.#single >= MOST_SINGLE)
      throw errors.BUSY(`${MOST_SINGLE} servers are scanned now; try again when one is done`);
    this.#single++;
    try {
      const result = await this.#connections.run(() => {
        signal.throwIfAborted();
        return prober.probe(target, { ...options, name, limitMs: this.#limits.name, signal });
      });
      return this.#told(result, options.allowPrivate);
    } finally {
      this.#single--;
    }
  }

  #told(result: ScanResult, allowPrivate: boolean): ScanResult {
    if (result.privateTarget && allowPrivate)
      this.#log.info('scanned a server at an address that is not public, as an admin asked for', {
        target: result.target,
      });
    // The panel's own listeners are not permitted in any way.
    return result.reason.includes('WEIR_OUTGOING_ALLOW')
      ? { ...result, reason: `${result.reason}, or send allowPrivate` }
      : result;
  }

  /** @param given entries; those of the setting if there are none */
  async many(given: readonly string[], { signal: caller, progressed }: Progress): Promise<Scanned> {
    const prober = this.#ready();
    const entries = [given, entriesIn(this.#settings.read().realityScanCandidates), entriesIn(BUILT_IN)];
    const list = read(
      'targets',
      () => taskListOf(entries.find((each) => each.length > 0) ?? []),
      errors.TOO_MANY,
    );
    if (this.#lists >= MOST_LISTS)
      throw errors.BUSY(`${MOST_LISTS} lists are scanned now; try again when one is over`);
    this.#lists++;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new ListOver()), this.#limits.list);
    const signal = AbortSignal.any([caller, over.signal]);
    try {
      const results: (ScanResult | undefined)[] = [];
      const left = list.tasks.entries();
      // Each worker waits for a slot once for each target, so that two lists take turns.
      const work = async (): Promise<void> => {
        for (const [i, task] of left) {
          results[i] = await this.#slots.run(() =>
            this.#connections.run(() => this.#probe(prober, task, signal)),
          );
          progressed();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      caller.throwIfAborted();
      return summaryOf(list, results, this.#limits.list / 1000);
    } finally {
      clearTimeout(timer);
      this.#lists--;
    }
  }

  #ready(): Prober {
    if (!this.#prober)
      throw errors.NO_OUTGOING('the plugin outgoing, which calls other machines, is off; enable it');
    return this.#prober;
  }

  /** Undefined if the time of the list, or its caller, was over before there was a result. */
  async #probe(prober: Prober, { target }: Task, signal: AbortSignal): Promise<ScanResult | undefined> {
    if (signal.aborted) return undefined;
    const limitMs = this.#limits[target.isAddress ? 'address' : 'name'];
    try {
      return await prober.probe(target, { limitMs, signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}

const nameIn = (text: string): string => {
  const name = hostIn(text);
  if (name === undefined || isIP(name) !== 0)
    throw new Error('it must be a host name, such as www.example.com');
  return name;
};

/** Names the field in the error. */
function read<T>(path: string, work: () => T, error = errors.TARGET): T {
  try {
    return work();
  } catch (cause) {
    throw error(`${path}: ${messageOf(cause)}`, { path });
  }
}
