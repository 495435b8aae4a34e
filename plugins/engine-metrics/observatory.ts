// What the core's observatory says of outbounds: the last probes, and the history of their delays.
import {
  bool,
  type Clock,
  int,
  list,
  type Log,
  messageOf,
  shape,
  type Static,
  text,
} from '../../kernel/index.js';
import type { CoreMonitorApi, OutboundProbe } from '../engine/contract.js';
import type { TimeSeriesApi } from '../time-series/contract.js';
import { errors } from './errors.js';
import { delaySeries, lastPoints, LONGEST_TAG, MOST_TAGS } from './series.js';

/** ms after which a core without an observatory is asked again */
const ASK_AGAIN_MS = 60_000;
const MOST_SHOWN = 1000;
const MOST_NAMED = 20;
/** What programs take for "not alive". */
const DEAD_DELAY = 99_999_999;

export const ObservatoryReply = list(
  shape({
    tag: text(),
    alive: bool(),
    delay: int().description('ms; 99999999 for an outbound that is not alive'),
    lastSeenTime: int().description('Unix seconds; 0: never, or unknown (burstObservatory)'),
    lastTryTime: int().description('Unix seconds; 0: unknown (burstObservatory)'),
    lastError: text().description('empty also where the core does not say'),
    updatedAt: int().description('Unix seconds: when the panel asked the core'),
  }),
);
type Observed = Static<typeof ObservatoryReply>[number];

interface Needs {
  readonly monitor: CoreMonitorApi | undefined;
  readonly series: TimeSeriesApi | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export class Observatory {
  readonly #needs: Needs;
  #observed: readonly Observed[] = [];
  #epoch: string | undefined;
  #askAgainAt = 0;
  /** outbounds with a history, the one that was recorded last at the end */
  #recorded: Set<string> | undefined;
  #hasToldOfMany = false;

  constructor({ monitor, series, clock, log }: Needs) {
    this.#needs = { monitor, series, clock, log };
  }

  /** By tag; empty while no core runs, and where it observes nothing. */
  observed(): readonly Observed[] {
    return this.#observed;
  }

  /** Reads the probes of the core with this epoch, and records them. Never rejects. */
  async sample(epoch: string | undefined): Promise<void> {
    const { clock, log, monitor } = this.#needs;
    // What a core said that is gone is no news of its successor.
    if (epoch !== this.#epoch) [this.#observed, this.#askAgainAt] = [[], 0];
    this.#epoch = epoch;
    if (epoch === undefined || clock.now() < this.#askAgainAt) return;
    try {
      const probes = await monitor?.outbounds();
      this.#askAgainAt = probes === undefined ? clock.now() + ASK_AGAIN_MS : 0;
      this.#observed = this.#asReply(probes ?? []);
      for (const one of this.#observed) if (one.alive) await this.#record(one.tag, one.delay);
    } catch (error) {
      log.debug('the probes of outbounds could not be read', { reason: messageOf(error) });
    }
  }

  /** Rejects for a tag that is not observed and has no history. */
  async history(tag: string, bucket: number) {
    const { series: store, clock } = this.#needs;
    const known = new Set([...this.#observed.map((one) => one.tag), ...(await this.#tags())]);
    if (!known.has(tag)) throw errors.UNKNOWN_TAG(unknownTag(tag, [...known].sort()), { path: 'tag' });
    // Too long for a history.
    if (!isRecordable(tag)) return [];
    return lastPoints({ store, clock }, delaySeries, bucket, tag);
  }

  #asReply(probes: readonly OutboundProbe[]): Observed[] {
    const updatedAt = Math.floor(this.#needs.clock.now() / 1000);
    return [...probes]
      .sort((a, b) => (a.tag < b.tag ? -1 : 1))
      .slice(0, MOST_SHOWN)
      .map(({ tag, alive, delay, lastError, lastSeen, lastTry }) => ({
        tag,
        alive,
        delay: alive ? delay : DEAD_DELAY,
        lastSeenTime: lastSeen,
        lastTryTime: lastTry,
        lastError,
        updatedAt,
      }));
  }

  /** Tags with a history, those of earlier cores and panels included. */
  async #tags(): Promise<Set<string>> {
    this.#recorded ??= new Set(await this.#needs.series?.keys(delaySeries));
    return this.#recorded;
  }

  async #record(tag: string, delay: number): Promise<void> {
    const { series } = this.#needs;
    if (!series || !isRecordable(tag)) return;
    const tags = await this.#tags();
    if (!tags.has(tag) && tags.size >= MOST_TAGS && !(await this.#makeRoom(tags))) return;
    series.add(delaySeries, delay, { key: tag });
    tags.delete(tag);
    tags.add(tag);
  }

  /** Removes the history of the outbound that has had no sample for longest and is not observed any more. */
  async #makeRoom(tags: Set<string>): Promise<boolean> {
    const current = new Set(this.#observed.map(({ tag }) => tag));
    const oldest = [...tags].find((tag) => !current.has(tag));
    if (oldest === undefined) {
      if (!this.#hasToldOfMany)
        this.#needs.log.warn('the core observes more outbounds than have a history; the others have none', {
          observed: current.size,
          withHistory: MOST_TAGS,
        });
      this.#hasToldOfMany = true;
      return false;
    }
    await this.#needs.series?.forget(delaySeries, oldest);
    tags.delete(oldest);
    return true;
  }
}

const isRecordable = (tag: string): boolean =>
  tag !== '' && tag.length <= LONGEST_TAG && !/\p{Surrogate}/u.test(tag);

function unknownTag(tag: string, known: readonly string[]): string {
  if (known.length === 0) return `no outbound ${tag} is observed; the core observes none`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : '';
  return `no outbound ${tag} is observed; tag must be one of ${known.slice(0, MOST_NAMED).join(', ')}${more}`;
}
