// The format of an archive: lines of JSON. The first one is the header, the last one says what there must be between them.
import { createHash, type Hash } from 'node:crypto';
import type { ArchiveRecord } from './contract.js';

export const RELEASE = '0.1.0';
export const FORMAT_VERSION = 1;
/** Bytes. An inbound without its clients, and a template of the core, are far smaller. */
export const MOST_LINE_BYTES = 8 * 1024 * 1024;
/** Ten clients for each that a panel is made for. */
export const MOST_LINES = 5_000_000;
/** Bytes of the file, and of its lines when it is compressed. */
export const MOST_FILE_BYTES = 4 * 1024 ** 3;
export const MOST_TEXT_BYTES = 8 * 1024 ** 3;
/** Records that a part gets at once, and the bytes of their lines. */
export const MOST_AT_ONCE = 1000;
export const MOST_BYTES_AT_ONCE = 4 * 1024 * 1024;

export interface ArchivedKind {
  readonly kind: string;
  readonly version: number;
  readonly about: string;
}
export interface ArchiveHeader {
  readonly archive: 'weir';
  readonly version: number;
  /** of the panel that wrote it */
  readonly release: string;
  /** RFC 3339 */
  readonly madeAt: string;
  /** whether it has those secrets, too, that open other machines and accounts */
  readonly secrets: boolean;
  /** in the order of their records */
  readonly kinds: readonly ArchivedKind[];
}
export interface RecordLine {
  readonly kind: string;
  readonly record: ArchiveRecord;
}
/** Decimal digits by name: sums of bytes may be beyond what JSON's numbers hold. */
export type Sums = Readonly<Record<string, string>>;
export interface ArchiveEnd {
  readonly end: {
    readonly records: Readonly<Record<string, number>>;
    readonly sums: Readonly<Record<string, Sums>>;
    /** of all bytes before this line, in hexadecimal */
    readonly sha256: string;
  };
}

/** Counts records and adds up their numbers. */
export class Counting {
  records = 0;
  readonly #sums = new Map<string, bigint>();

  add(numbers: Readonly<Record<string, unknown>> | undefined): void {
    this.records++;
    for (const [name, value] of Object.entries(numbers ?? {}))
      if (Number.isSafeInteger(value))
        this.#sums.set(name, (this.#sums.get(name) ?? 0n) + BigInt(value as number));
  }
  get(name: string): bigint {
    return this.#sums.get(name) ?? 0n;
  }
  sums(): Sums {
    return Object.fromEntries([...this.#sums].map(([name, sum]) => [name, sum.toString()]));
  }
}

export const newDigest = (): Hash => createHash('sha256');
export const lineOf = (value: ArchiveHeader | RecordLine | ArchiveEnd): Buffer =>
  Buffer.from(`${JSON.stringify(value)}\n`);
