// Reads an archive twice: all of it is checked before the first record is taken.
import type { FileHandle } from 'node:fs/promises';
import { inspect, jsonObject, type PanelError, TimeSlice, whyNotJson } from '../../kernel/index.js';
import { type ArchiveRecord, KIND } from './contract.js';
import { errors } from './errors.js';
import {
  type ArchiveEnd,
  type ArchiveHeader,
  Counting,
  FORMAT_VERSION,
  MOST_AT_ONCE,
  MOST_BYTES_AT_ONCE,
  newDigest,
  type RecordLine,
} from './format.js';
import { linesOf } from './lines.js';

const MOST_KINDS = 1000;
/** Characters of a release and of a time. */
const MOST_FACT = 100;
/** Bytes of a line that is parsed at once: whatever is in it, this takes a few milliseconds. */
const SHORT_LINE = 64 * 1024;
/** A longer line is parsed when its different keys and its separators are counted: half of them are values. */
const LongLine = jsonObject(400_000);

const refused = (what: string, cause?: unknown): PanelError =>
  errors.REFUSED(`${what}; nothing was changed`, { cause });
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const SQLITE = Buffer.from('SQLite format 3\0');

function parsed(line: Buffer, number: number): Record<string, unknown> {
  if (number === 1 && line.subarray(0, SQLITE.length).equals(SQLITE))
    throw refused(
      'the file is a SQLite database: `weir restore` takes a backup, and `weir import 3x-ui` the database of 3x-ui',
    );
  let value: unknown;
  let tooMuch: string | undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line);
    if (line.length <= SHORT_LINE) value = JSON.parse(text);
    else {
      const result = inspect(LongLine, text);
      if ('value' in result) ({ value } = result);
      else tooMuch = result.issues[0]?.message;
    }
  } catch (cause) {
    throw refused(`line ${number} is not JSON in UTF-8`, cause);
  }
  if (tooMuch !== undefined) throw refused(`line ${number}: ${tooMuch}`);
  const problem = isObject(value) ? whyNotJson(value) : 'it is not an object';
  if (problem !== undefined) throw refused(`line ${number}: ${problem}`);
  return value as Record<string, unknown>;
}

function headerIn(line: Record<string, unknown>): ArchiveHeader {
  if (line['archive'] !== 'weir')
    throw refused(
      'the file is not an archive of `weir export`; `weir restore` takes backups, and `clients/import` lists of clients',
    );
  const { version, kinds, release, madeAt, secrets } = line;
  if (version !== FORMAT_VERSION)
    throw refused(
      `the archive has the format ${String(version).slice(0, 20)}, of the release ${String(release).slice(0, 40)}; this panel reads ${FORMAT_VERSION}. Upgrade the panel first`,
    );
  if (
    typeof release !== 'string' ||
    typeof madeAt !== 'string' ||
    release.length + madeAt.length > MOST_FACT ||
    typeof secrets !== 'boolean' ||
    !Array.isArray(kinds) ||
    kinds.length > MOST_KINDS ||
    !kinds.every(
      (kind) =>
        isObject(kind) &&
        typeof kind['kind'] === 'string' &&
        KIND.test(kind['kind']) &&
        Number.isSafeInteger(kind['version']),
    )
  )
    throw refused('line 1 is not a complete header');
  const names = kinds.map(({ kind }) => kind as string);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw refused(`line 1 names the kind ${twice} twice`);
  return line as unknown as ArchiveHeader;
}

/** Numbers of a record that are summed; undefined for a kind that no plugin here knows. */
export type SumsOf = (kind: string, record: ArchiveRecord) => Readonly<Record<string, unknown>> | undefined;

export interface CheckedArchive {
  readonly header: ArchiveHeader;
  readonly end: ArchiveEnd['end'];
}

/** Where a file stands, to see that it has not been changed meanwhile. */
const standing = async (file: FileHandle): Promise<string> => {
  const { size, mtimeMs, ino } = await file.stat();
  return `${size} ${mtimeMs} ${ino}`;
};

export class ArchiveReader {
  readonly #file: FileHandle;
  readonly #signal: AbortSignal;
  #standing = '';

  constructor(file: FileHandle, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
  }

  /** Reads all of it: each line, their order, the counts, the digest, and the sums as `sumsOf` knows them. Rejects with a sentence that names what is wrong. */
  async check(sumsOf: SumsOf): Promise<CheckedArchive> {
    this.#standing = await standing(this.#file);
    const digest = newDigest();
    const slice = new TimeSlice();
    const counted = new Map<string, Counting>();
    let header: ArchiveHeader | undefined;
    let end: ArchiveEnd['end'] | undefined;
    let sha256 = '';
    let place = -1;
    let number = 0;
    for await (const lines of linesOf(this.#file, this.#signal))
      for (const bytes of lines) {
        if (slice.isOver || bytes.length > SHORT_LINE) await slice.next();
        number++;
        if (end) throw refused(`line ${number} comes after the end of the archive`);
        const line = parsed(bytes, number);
        if (!header) header = headerIn(line);
        else if ('end' in line) {
          end = line['end'] as ArchiveEnd['end'];
          sha256 = digest.digest('hex');
          continue;
        } else {
          const at = this.#placeOf(line, header, number);
          if (at < place)
            throw refused(
              `line ${number}: records of ${String(line['kind'])} come after those of ${header.kinds[place]?.kind}; kinds come one after another, as in line 1`,
            );
          place = at;
          const kind = line['kind'] as string;
          const counting = counted.get(kind) ?? new Counting();
          counted.set(kind, counting);
          counting.add(sumsOf(kind, line['record'] as ArchiveRecord));
        }
        digest.update(bytes);
      }
    if (!header) throw refused('the file is empty');
    if (!end) throw refused(`the archive is incomplete: it ends after line ${number}, without its last line`);
    return { header, end: this.#matching(end, counted, sha256) };
  }

  #placeOf(line: Record<string, unknown>, { kinds }: ArchiveHeader, number: number): number {
    const { kind, record, ...others } = line;
    const place = kinds.findIndex((known) => known.kind === kind);
    if (place < 0) throw refused(`line ${number} has a kind that line 1 does not name`);
    if (!isObject(record)) throw refused(`line ${number} has no record`);
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw refused(`line ${number} has the key ${other.slice(0, 40)} beside kind and record`);
    return place;
  }

  #matching(
    end: ArchiveEnd['end'],
    counted: ReadonlyMap<string, Counting>,
    sha256: string,
  ): ArchiveEnd['end'] {
    if (!isObject(end) || !isObject(end.records) || !isObject(end.sums) || typeof end.sha256 !== 'string')
      throw refused('the last line is not a complete end');
    for (const kind of new Set([...Object.keys(end.records), ...counted.keys()])) {
      const [said, found] = [end.records[kind] ?? 0, counted.get(kind)?.records ?? 0];
      if (said !== found)
        throw refused(
          `the archive has ${found} records of ${kind.slice(0, 64)}, and its last line says ${said}`,
        );
    }
    if (end.sha256 !== sha256)
      throw refused('the archive was changed: its SHA-256 is not the one in its last line');
    for (const [kind, counting] of counted)
      for (const [name, sum] of Object.entries(counting.sums())) {
        const said = end.sums[kind]?.[name];
        if (said !== undefined && said !== sum)
          throw refused(
            `${name} of ${kind} sums up to ${sum}, and the last line says ${String(said).slice(0, 40)}`,
          );
      }
    return end;
  }

  /** Yields the records again, in portions of one kind. Call it after `check`. */
  async *records(): AsyncGenerator<{ readonly kind: string; readonly records: readonly ArchiveRecord[] }> {
    if ((await standing(this.#file)) !== this.#standing)
      throw refused('the file was changed while it was read');
    let kind = '';
    let records: ArchiveRecord[] = [];
    let bytes = 0;
    let number = 0;
    const slice = new TimeSlice();
    for await (const lines of linesOf(this.#file, this.#signal))
      for (const line of lines) {
        if (slice.isOver || line.length > SHORT_LINE) await slice.next();
        if (++number === 1) continue;
        const value = parsed(line, number) as unknown as RecordLine | ArchiveEnd;
        if ('end' in value) continue;
        if (
          records.length > 0 &&
          (value.kind !== kind || records.length >= MOST_AT_ONCE || bytes + line.length > MOST_BYTES_AT_ONCE)
        ) {
          yield { kind, records };
          records = [];
          bytes = 0;
        }
        ({ kind } = value);
        records.push(value.record);
        bytes += line.length;
      }
    if (records.length > 0) yield { kind, records };
  }
}
