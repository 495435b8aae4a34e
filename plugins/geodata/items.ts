// Items of a category: ranges of addresses (GeoIP) or domains (GeoSite). Fields: app/router/config.proto of the core.
import { canonicalAddress } from '../../kernel/index.js';
import { BYTES, Reader, VARINT } from './wire.js';

/** of a file: what its categories hold */
export type Kind = 'ip' | 'site';
export const ITEM_TYPES = ['cidr', 'keyword', 'regexp', 'domain', 'full'] as const;
export interface Item {
  readonly type: (typeof ITEM_TYPES)[number];
  readonly value: string;
  readonly attributes: readonly string[];
}

/** By the number in the file. */
const DOMAIN_TYPES = ['keyword', 'regexp', 'domain', 'full'] as const;
const MOST_ATTRIBUTES = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

export const textOf = (bytes: Uint8Array, begin: number, end: number): string => {
  try {
    return decoder.decode(bytes.subarray(begin, end));
  } catch {
    throw new Error('it has a text that is not UTF-8');
  }
};

/** Moves the reader over one item without making anything of it; returns its kind, and adds its attributes. */
export function scanItem(reader: Reader, end: number, attributes: Set<string>): Kind | undefined {
  const outer = reader.end;
  reader.end = end;
  let kind: Kind | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === ((1 << 3) | BYTES)) {
      const begin = reader.span();
      const length = reader.at - begin;
      if (length !== 4 && length !== 16) throw new Error(`it has an address of ${length} bytes`);
      kind = 'ip';
    } else if (tag === ((2 << 3) | BYTES)) {
      reader.span();
      kind = 'site';
    } else if (tag === ((3 << 3) | BYTES)) {
      const begin = reader.span();
      const key = attributeOf(reader.bytes, begin, reader.at);
      if (key !== '' && attributes.size < MOST_ATTRIBUTES) attributes.add(key);
    } else reader.skip(tag & 7);
  }
  reader.end = outer;
  return kind;
}

function attributeOf(bytes: Uint8Array, begin: number, end: number): string {
  const reader = new Reader(bytes, begin, end);
  let key = '';
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === ((1 << 3) | BYTES)) {
      const from = reader.span();
      key = textOf(bytes, from, reader.at);
    } else reader.skip(tag & 7);
  }
  return key;
}

export function readItem(bytes: Uint8Array, begin: number, end: number, kind: Kind): Item {
  return kind === 'ip' ? range(bytes, begin, end) : domain(bytes, begin, end);
}

function range(bytes: Uint8Array, begin: number, end: number): Item {
  const reader = new Reader(bytes, begin, end);
  let address = '';
  let prefix = 0;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === ((1 << 3) | BYTES)) {
      const from = reader.span();
      address = addressOf(bytes.subarray(from, reader.at));
    } else if (tag === ((2 << 3) | VARINT)) prefix = reader.varint();
    else reader.skip(tag & 7);
  }
  return { type: 'cidr', value: `${address}/${prefix}`, attributes: [] };
}

function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  ).join(':');
  return canonicalAddress(groups) ?? groups;
}

function domain(bytes: Uint8Array, begin: number, end: number): Item {
  const reader = new Reader(bytes, begin, end);
  const attributes: string[] = [];
  let type = 0;
  let value = '';
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === ((1 << 3) | VARINT)) type = reader.varint();
    else if (tag === ((2 << 3) | BYTES)) {
      const from = reader.span();
      value = textOf(bytes, from, reader.at);
    } else if (tag === ((3 << 3) | BYTES)) {
      const from = reader.span();
      attributes.push(attributeOf(bytes, from, reader.at));
    } else reader.skip(tag & 7);
  }
  return { type: DOMAIN_TYPES[type] ?? 'keyword', value, attributes };
}
