// One series: collects samples in memory, writes them to its file, and reads both together.
import { type Log, SerialQueue } from '../../kernel/index.js';
import type { SeriesKind, TieredSeries } from './contract.js';
import { type Point, RingFile } from './ring-file.js';
import { type Aggregate, merged, sampleOf } from './slot.js';
import { bucketOf, TIERS } from './tiers.js';

/** The limit of waiting points of one tier; while the disk is full, older ones are dropped (two minutes of the finest tier, hours of the others). */
const MOST_WAITING = 64;

interface Ring {
  /** samples since the last flush, not merged with the file yet */
  readonly added: Map<number, Aggregate>;
  /** merged with the file, but not written yet */
  readonly unwritten: Map<number, Aggregate>;
  /** the last written point: most samples still belong to it */
  written: { readonly bucket: number; readonly value: Aggregate } | undefined;
  /** this process has written no bucket after this one */
  newest: number | undefined;
}

const newRing = (): Ring => ({
  added: new Map(),
  unwritten: new Map(),
  written: undefined,
  newest: undefined,
});

/** Groups neighbouring buckets, in order. */
function runsOf(points: ReadonlyMap<number, Aggregate>): Point[][] {
  const runs: Point[][] = [];
  for (const point of [...points].sort(([a], [b]) => a - b)) {
    const run = runs.at(-1);
    if (run && run.at(-1)?.[0] === point[0] - 1) run.push(point);
    else runs.push([point]);
  }
  return runs;
}

export class Recorder<K extends SeriesKind = SeriesKind> {
  readonly series: TieredSeries<K>;
  readonly #path: string;
  readonly #log: Log;
  readonly #keys = new Map<string, Ring[]>();
  #file: RingFile | undefined;
  /** only one call reads or writes the file at a time */
  readonly #queue = new SerialQueue();
  #closed = false;

  constructor(series: TieredSeries<K>, path: string, log: Log) {
    this.series = series;
    this.#path = path;
    this.#log = log;
  }

  /** Rejects when the file cannot be opened; the next flush or read tries again. */
  open(): Promise<void> {
    return this.#queue.run(async () => void (await this.#opened()));
  }

  /** Adds a checked sample. Returns false if the series has its maximum number of keys. */
  add(key: string, value: number, at: number, now: number): boolean {
    let rings = this.#keys.get(key);
    if (!rings) {
      if (this.#keys.size >= this.series.mostKeys) return false;
      rings = TIERS.map(newRing);
      this.#keys.set(key, rings);
    }
    for (const [i, tier] of TIERS.entries()) {
      const bucket = bucketOf(at, tier);
      const ring = rings[i];
      // A sample may be too old for the finer tiers.
      if (!ring || bucket <= bucketOf(now, tier) - tier.slots) continue;
      ring.added.set(bucket, merged(ring.added.get(bucket), sampleOf(value)));
      bound(ring.added);
    }
    return true;
  }

  /** Writes new samples. If that fails, keeps a limited number for the next flush. */
  flush(): Promise<void> {
    return this.#queue.run(async () => {
      const waiting = [...this.#keys].filter(([, rings]) =>
        rings.some(({ added, unwritten }) => added.size + unwritten.size > 0),
      );
      if (waiting.length === 0) return;
      const file = await this.#opened();
      for (const [key, rings] of waiting) {
        if (await file.add(key))
          for (const [tier, ring] of rings.entries()) await this.#flushRing(file, key, tier, ring);
        else this.#keys.delete(key);
      }
    });
  }

  async #flushRing(file: RingFile, key: string, tier: number, ring: Ring): Promise<void> {
    for (const bucket of [...ring.added.keys()]) {
      const base = await this.#baseOf(file, key, tier, ring, bucket);
      // It may have changed while the base was read.
      const added = ring.added.get(bucket);
      ring.added.delete(bucket);
      if (added) ring.unwritten.set(bucket, merged(base, added));
    }
    bound(ring.unwritten);
    for (const run of runsOf(ring.unwritten)) {
      await file.write(key, tier, run);
      for (const [bucket, value] of run) {
        ring.unwritten.delete(bucket);
        ring.written = { bucket, value };
        ring.newest = Math.max(bucket, ring.newest ?? bucket);
      }
    }
  }

  /** Returns the stored value of a point. Reads the file only for a bucket that this process has not written: after a start, or when the clock was set back. */
  async #baseOf(
    file: RingFile,
    key: string,
    tier: number,
    { unwritten, written, newest }: Ring,
    bucket: number,
  ): Promise<Aggregate | undefined> {
    const waiting = unwritten.get(bucket);
    if (waiting) return waiting;
    if (written?.bucket === bucket) return written.value;
    if (newest !== undefined && bucket > newest) return undefined;
    return (await file.read(key, tier, bucket, bucket)).get(bucket);
  }

  /** Reads the points of a tier from bucket `first` to `last`. */
  read(key: string, tier: number, first: number, last: number): Promise<ReadonlyMap<number, Aggregate>> {
    return this.#queue.run(async () => {
      const found = await (await this.#opened()).read(key, tier, first, last);
      const ring = this.#keys.get(key)?.[tier];
      const isAsked = ([bucket]: Point): boolean => bucket >= first && bucket <= last;
      for (const [bucket, value] of [...(ring?.unwritten ?? [])].filter(isAsked)) found.set(bucket, value);
      for (const [bucket, value] of [...(ring?.added ?? [])].filter(isAsked))
        found.set(bucket, merged(found.get(bucket), value));
      return found;
    });
  }

  keys(): Promise<readonly string[]> {
    return this.#queue.run(async () => {
      await this.#opened();
      return [...this.#keys.keys()].sort();
    });
  }

  forget(key: string): Promise<void> {
    return this.#queue.run(async () => {
      await (await this.#opened()).remove(key);
      this.#keys.delete(key);
    });
  }

  /** Closes the file; later reads and writes throw. */
  close(): Promise<void> {
    return this.#queue.run(async () => {
      this.#closed = true;
      await this.#file?.close();
      this.#file = undefined;
    });
  }

  async #opened(): Promise<RingFile> {
    if (this.#closed) throw new Error(`the series ${this.series.name} is closed, because the panel stops`);
    if (this.#file) return this.#file;
    const { kind, mostKeys } = this.series;
    this.#file = await RingFile.open(this.#path, kind, mostKeys, this.#log);
    // Keys that were added while the file could not be opened may exceed its size; the flush skips those without room.
    for (const key of this.#file.keys) if (!this.#keys.has(key)) this.#keys.set(key, TIERS.map(newRing));
    return this.#file;
  }
}

/** Drops the points that wait longest. */
function bound(points: Map<number, Aggregate>): void {
  if (points.size <= MOST_WAITING) return;
  let oldest = Infinity;
  for (const bucket of points.keys()) oldest = Math.min(oldest, bucket);
  points.delete(oldest);
  bound(points);
}
