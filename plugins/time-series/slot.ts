// One point of a series: how samples are merged into it, and its format on disk.
//   gauge:   check u32, bucket u32, count u32, sum f64, min f64, max f64
//   counter: check u32, bucket u32, sum f64
// Numbers are little-endian. The check is the CRC-32 of the rest (ISO 3309, as in zlib), begun with the generation of the
// key: a torn or empty point, or one of an earlier key, fails it.
import { crc32 } from 'node:zlib';
import type { SeriesKind } from './contract.js';
import { SLOT_BYTES } from './tiers.js';

export interface Aggregate {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

export const sampleOf = (value: number): Aggregate => ({ count: 1, sum: value, min: value, max: value });

export const merged = (a: Aggregate | undefined, b: Aggregate): Aggregate =>
  a
    ? {
        count: Math.min(a.count + b.count, 0xffffffff),
        sum: a.sum + b.sum,
        min: Math.min(a.min, b.min),
        max: Math.max(a.max, b.max),
      }
    : b;

/** Writes a point into `target` at `offset`. */
export function writeSlot(
  target: Buffer,
  offset: number,
  kind: SeriesKind,
  generation: number,
  bucket: number,
  { count, sum, min, max }: Aggregate,
): void {
  target.writeUInt32LE(bucket, offset + 4);
  if (kind === 'gauge') {
    target.writeUInt32LE(count, offset + 8);
    target.writeDoubleLE(sum, offset + 12);
    target.writeDoubleLE(min, offset + 20);
    target.writeDoubleLE(max, offset + 28);
  } else target.writeDoubleLE(sum, offset + 8);
  target.writeUInt32LE(checkOf(target, offset, kind, generation), offset);
}

const checkOf = (source: Buffer, offset: number, kind: SeriesKind, generation: number): number =>
  crc32(source.subarray(offset + 4, offset + SLOT_BYTES[kind]), generation);

/** Reads the point at `offset`; undefined if there is no complete one. */
export function readSlot(
  source: Buffer,
  offset: number,
  kind: SeriesKind,
  generation: number,
): (Aggregate & { readonly bucket: number }) | undefined {
  if (offset + SLOT_BYTES[kind] > source.length) return undefined;
  if (source.readUInt32LE(offset) !== checkOf(source, offset, kind, generation)) return undefined;
  const bucket = source.readUInt32LE(offset + 4);
  if (kind === 'counter') {
    const sum = source.readDoubleLE(offset + 8);
    return { bucket, count: 1, sum, min: sum, max: sum };
  }
  return {
    bucket,
    count: source.readUInt32LE(offset + 8),
    sum: source.readDoubleLE(offset + 12),
    min: source.readDoubleLE(offset + 20),
    max: source.readDoubleLE(offset + 28),
  };
}
