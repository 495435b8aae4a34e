// Index of a geodata file: its categories, and where each lies. Made in slices, one category in memory at a time.
import type { FileHandle } from 'node:fs/promises';
import { TimeSlice } from '../../kernel/index.js';
import { type Kind, scanItem, textOf } from './items.js';
import { BYTES, Reader } from './wire.js';

export interface Category {
  /** as it stands in the file; the core finds only those in upper case */
  readonly code: string;
  /** of its message in the file */
  readonly offset: number;
  readonly length: number;
  /** number of its items */
  readonly count: number;
  readonly attributes: readonly string[];
}
export interface DatIndex {
  /** undefined when no category has an item */
  readonly kind: Kind | undefined;
  readonly categories: ReadonlyMap<string, Category>;
}

const ENTRY = (1 << 3) | BYTES;
const CODE = (1 << 3) | BYTES;
const ITEM = (2 << 3) | BYTES;
const LONGEST_HEADER = 11;
/** Read with the header: most categories are small. */
const FIRST_READ = 16 * 1024;
const MOST_CATEGORIES = 50_000;
const LONGEST_CODE = 127;
const LOOK_EVERY = 256;

async function read(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Bytes of a category's message. */
export async function readMessage(file: FileHandle, { offset, length }: Category): Promise<Buffer> {
  const bytes = await read(file, offset, length);
  if (bytes.length < length) throw new Error('it is cut off');
  return bytes;
}

/** Rejects with what is wrong with the file. `size` is that of the file. */
export async function indexOf(file: FileHandle, size: number): Promise<DatIndex> {
  const categories = new Map<string, Category>();
  const slice = new TimeSlice();
  let kind: Kind | undefined;
  for (let at = 0; at < size; ) {
    const first = await read(file, at, Math.min(FIRST_READ, size - at));
    const header = new Reader(first, 0, Math.min(first.length, LONGEST_HEADER));
    if (header.varint() !== ENTRY) throw new Error('it is not a list of categories');
    const length = header.varint();
    const offset = at + header.at;
    if (length > size - offset) throw new Error('it is cut off');
    const message =
      header.at + length <= first.length
        ? first.subarray(header.at, header.at + length)
        : await readMessage(file, { offset, length } as Category);
    const found = await scan(message, slice);
    if (found.kind !== undefined) {
      if (kind !== undefined && found.kind !== kind)
        throw new Error('it mixes categories of addresses and of domains');
      kind = found.kind;
    }
    const { code, count, attributes } = found;
    // The core uses the first one.
    if (!categories.has(code)) categories.set(code, { code, offset, length, count, attributes });
    if (categories.size > MOST_CATEGORIES) throw new Error(`it has more than ${MOST_CATEGORIES} categories`);
    at = offset + length;
    if (slice.isOver) await slice.next();
  }
  if (categories.size === 0) throw new Error('it has no category');
  return { kind, categories };
}

interface Scanned {
  readonly code: string;
  readonly kind: Kind | undefined;
  readonly count: number;
  readonly attributes: readonly string[];
}

async function scan(message: Uint8Array, slice: TimeSlice): Promise<Scanned> {
  const reader = new Reader(message);
  // The core looks for the code at this very place.
  if (message.length === 0 || reader.varint() !== CODE) throw new Error('it has a category without a code');
  const begin = reader.span();
  if (reader.at - begin > LONGEST_CODE) throw new Error('it has a category with a code that is too long');
  const code = textOf(message, begin, reader.at);
  const attributes = new Set<string>();
  let kind: Kind | undefined;
  let count = 0;
  while (reader.at < reader.end) {
    const tag = reader.varint();
    if (tag !== ITEM) {
      reader.skip(tag & 7);
      continue;
    }
    const item = reader.span();
    const end = reader.at;
    reader.at = item;
    const found = scanItem(reader, end, attributes);
    if (kind !== undefined && found !== undefined && found !== kind)
      throw new Error(`its category ${code} mixes addresses and domains`);
    kind ??= found;
    count++;
    if (count % LOOK_EVERY === 0 && slice.isOver) await slice.next();
  }
  return { code, kind, count, attributes: [...attributes].sort() };
}

/** Places of the items in a category's message. */
export function* itemsOf(message: Uint8Array): Generator<readonly [begin: number, end: number]> {
  const reader = new Reader(message);
  while (reader.at < reader.end) {
    const tag = reader.varint();
    if (tag === ITEM) yield [reader.span(), reader.at];
    else reader.skip(tag & 7);
  }
}
