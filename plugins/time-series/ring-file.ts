// The file of one series, of bounded size: a header, then one region for each key, with one ring of points per tier.
// Points are written in place. No fsync: a kill loses nothing that was written, a power cut may leave torn points, which
// which fail their check.
//   header: one line of text in 128 bytes; a file with another one is set aside
//   region: check u32, generation u32, length u16, key (UTF-8); then the rings
import { randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Log, TimeSlice } from '../../kernel/index.js';
import type { SeriesKind } from './contract.js';
import { type Aggregate, readSlot, writeSlot } from './slot.js';
import { bytesOfKey, KEY_HEADER_BYTES, SLOT_BYTES, TIERS } from './tiers.js';

const HEADER_BYTES = 128;

interface Region {
  readonly index: number;
  readonly generation: number;
}

/** A point with the number of its bucket. */
export type Point = readonly [bucket: number, value: Aggregate];

const headerOf = (kind: SeriesKind): Buffer => {
  const rings = TIERS.map(({ step, slots }) => `${step}x${slots}`).join(' ');
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(`weir series 1 ${kind} ${rings}\n`);
  return header;
};

/** Writes everything: a system call may write less than it was given. */
async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

async function readAll(file: FileHandle, length: number, at: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes;
}

export class RingFile {
  readonly #file: FileHandle;
  readonly #kind: SeriesKind;
  readonly #mostKeys: number;
  readonly #regions = new Map<string, Region>();

  private constructor(file: FileHandle, kind: SeriesKind, mostKeys: number) {
    this.#file = file;
    this.#kind = kind;
    this.#mostKeys = mostKeys;
  }

  /** Opens or creates the file. A file that does not belong to this series is renamed to `….unreadable` and logged. */
  static async open(path: string, kind: SeriesKind, mostKeys: number, log: Log): Promise<RingFile> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    let handle = await open(path, flags, 0o600);
    try {
      const { size } = await handle.stat();
      const found = await readAll(handle, HEADER_BYTES, 0);
      if (!found.equals(headerOf(kind))) {
        // A file that was created on a full disk, or by a process that was then killed, has no header yet.
        if (!found.every((byte) => byte === 0) || size > HEADER_BYTES) {
          const aside = `${path}.unreadable`;
          await handle.close();
          await rename(path, aside);
          log.warn('the file of a series cannot be read; renaming it and starting a new one', {
            path,
            aside,
            size,
          });
          handle = await open(path, flags, 0o600);
        }
        await writeAll(handle, headerOf(kind), 0);
      }
      const ring = new RingFile(handle, kind, mostKeys);
      await ring.#load(path, log);
      return ring;
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  /** Reads the keys, and truncates the file to a whole number of regions. */
  async #load(path: string, log: Log): Promise<void> {
    const { size } = await this.#file.stat();
    const held = Math.min(Math.ceil((size - HEADER_BYTES) / bytesOfKey(this.#kind)), this.#mostKeys);
    for (let index = 0; index < held; index++) {
      const header = await readAll(this.#file, KEY_HEADER_BYTES, this.#offsetOf(index));
      const length = header.readUInt16LE(8);
      if (length > KEY_HEADER_BYTES - 10) continue;
      if (header.readUInt32LE(0) !== crc32(header.subarray(4, 10 + length))) continue;
      const key = header.toString('utf8', 10, 10 + length);
      if (!this.#regions.has(key)) this.#regions.set(key, { index, generation: header.readUInt32LE(4) });
    }
    const whole = this.#offsetOf(held);
    if (size === whole) return;
    log.warn('the file of a series has a wrong size; keeping its complete points', {
      path,
      size,
      expected: whole,
      keys: this.#regions.size,
    });
    await this.#file.truncate(whole);
  }

  get keys(): readonly string[] {
    return [...this.#regions.keys()];
  }

  /** Adds a region for a key; returns false if the file is full. */
  async add(key: string): Promise<boolean> {
    if (this.#regions.has(key)) return true;
    const taken = new Set([...this.#regions.values()].map(({ index }) => index));
    let index = 0;
    while (taken.has(index)) index++;
    if (index >= this.#mostKeys) return false;
    const generation = randomInt(1, 2 ** 32);
    const name = Buffer.from(key);
    const header = Buffer.alloc(KEY_HEADER_BYTES);
    header.writeUInt32LE(generation, 4);
    header.writeUInt16LE(name.length, 8);
    name.copy(header, 10);
    header.writeUInt32LE(crc32(header.subarray(4, 10 + name.length)), 0);
    const { size } = await this.#file.stat();
    if (size < this.#offsetOf(index + 1)) await this.#file.truncate(this.#offsetOf(index + 1));
    await writeAll(this.#file, header, this.#offsetOf(index));
    this.#regions.set(key, { index, generation });
    return true;
  }

  /** Frees the region of a key. Its points stay until they are overwritten, and fail the check of the next key. */
  async remove(key: string): Promise<void> {
    const region = this.#regions.get(key);
    if (!region) return;
    await writeAll(this.#file, Buffer.alloc(KEY_HEADER_BYTES), this.#offsetOf(region.index));
    this.#regions.delete(key);
  }

  /** Writes points of neighbouring buckets with one call; `points` are in order and have no gap. */
  async write(key: string, tier: number, points: readonly Point[]): Promise<void> {
    const region = this.#regionOf(key);
    const slotBytes = SLOT_BYTES[this.#kind];
    const { slots } = TIERS[tier] as (typeof TIERS)[number];
    for (let done = 0; done < points.length; ) {
      const first = (points[done] as Point)[0] % slots;
      const run = points.slice(done, done + slots - first);
      const bytes = Buffer.alloc(run.length * slotBytes);
      for (const [i, [bucket, value]] of run.entries())
        writeSlot(bytes, i * slotBytes, this.#kind, region.generation, bucket, value);
      await writeAll(this.#file, bytes, this.#ringOf(region, tier) + first * slotBytes);
      done += run.length;
    }
  }

  /** Reads the points of the buckets from `first` to `last`; gaps and damaged points are left out. */
  async read(key: string, tier: number, first: number, last: number): Promise<Map<number, Aggregate>> {
    const found = new Map<number, Aggregate>();
    const region = this.#regions.get(key);
    if (!region) return found;
    const slotBytes = SLOT_BYTES[this.#kind];
    const { slots } = TIERS[tier] as (typeof TIERS)[number];
    const slice = new TimeSlice();
    // A ring holds only as many points as it has slots.
    for (let bucket = Math.max(first, last - slots + 1); bucket <= last; ) {
      const start = bucket % slots;
      const count = Math.min(last - bucket + 1, slots - start);
      const bytes = await readAll(
        this.#file,
        count * slotBytes,
        this.#ringOf(region, tier) + start * slotBytes,
      );
      for (let i = 0; i < count; i++, bucket++) {
        if (slice.isOver) await slice.next();
        const slot = readSlot(bytes, i * slotBytes, this.#kind, region.generation);
        if (slot?.bucket === bucket) found.set(bucket, slot);
      }
    }
    return found;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #regionOf(key: string): Region {
    const region = this.#regions.get(key);
    if (!region) throw new Error(`the file of the series has no key ${JSON.stringify(key)}`);
    return region;
  }

  #offsetOf(index: number): number {
    return HEADER_BYTES + index * bytesOfKey(this.#kind);
  }

  #ringOf({ index }: Region, tier: number): number {
    const before = TIERS.slice(0, tier).reduce((sum, { slots }) => sum + slots, 0);
    return this.#offsetOf(index) + KEY_HEADER_BYTES + before * SLOT_BYTES[this.#kind];
  }
}
