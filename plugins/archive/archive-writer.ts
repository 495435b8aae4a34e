// Writes the lines of an archive, portion by portion: a panel with 100,000 clients needs no more memory than one with ten.
import { type Contributed, kernelErrors, messageOf, PanelError, TimeSlice } from '../../kernel/index.js';
import type { ArchivePart, ArchiveRecord } from './contract.js';
import { errors } from './errors.js';
import {
  type ArchiveHeader,
  Counting,
  FORMAT_VERSION,
  lineOf,
  MOST_LINE_BYTES,
  newDigest,
  RELEASE,
  type Sums,
} from './format.js';
import type { Parts } from './parts.js';

const PIECE_BYTES = 64 * 1024;
/** `{` */
const OBJECT = 0x7b;

/** What an archive has, when it is complete. */
export interface Written {
  readonly records: Readonly<Record<string, number>>;
  readonly sums: Readonly<Record<string, Sums>>;
}

/** The error for callers; what is not one of ours is a fault of the plugin with these records. */
function failed({ kind }: ArchivePart, fault: Contributed<ArchivePart>['fault'], cause: unknown): PanelError {
  if (cause instanceof PanelError) return cause;
  fault(`export of ${kind}`, cause);
  return kernelErrors.PLUGIN_FAILED(`the kind ${kind} cannot be exported: ${messageOf(cause)}`, { cause });
}

export class ArchiveWriter {
  readonly #parts: Parts;

  constructor({ parts }: { parts: Parts }) {
    this.#parts = parts;
  }

  /** Yields the archive in pieces. Rejects with a sentence: an archive that lacks a part would look whole. */
  async *pieces(
    { secrets, at }: { readonly secrets: boolean; readonly at: Date },
    done: (written: Written) => void = () => undefined,
  ): AsyncGenerator<Buffer> {
    const digest = newDigest();
    let waiting: Buffer[] = [];
    let bytes = 0;
    const put = (line: Buffer): void => {
      digest.update(line);
      waiting.push(line);
      bytes += line.length;
    };
    const taken = (): Buffer => {
      const piece = Buffer.concat(waiting);
      waiting = [];
      bytes = 0;
      return piece;
    };
    const parts = this.#parts.inOrder();
    put(lineOf(this.#header(secrets, at)));
    const counted = new Map<string, Counting>();
    const slice = new TimeSlice();
    for (const { value: part, fault } of parts) {
      const counting = new Counting();
      counted.set(part.kind, counting);
      try {
        for await (const records of part.export({ secrets }))
          for (const record of records as readonly ArchiveRecord[]) {
            if (slice.isOver) await slice.next();
            const line = lineOf({ kind: part.kind, record });
            // What is written is what counts: `toJSON` may make a text of an object. An archive with it is refused as a whole.
            if (line[`{"kind":"${part.kind}","record":`.length] !== OBJECT)
              throw new Error(`record ${counting.records + 1} is not an object`);
            if (line.length > MOST_LINE_BYTES)
              throw errors.NOT_WRITTEN(
                `record ${counting.records + 1} of ${part.kind} has ${line.length} bytes; at most ${MOST_LINE_BYTES} are allowed`,
              );
            put(line);
            counting.add(part.sums?.(record));
            if (bytes >= PIECE_BYTES) yield taken();
          }
      } catch (cause) {
        throw failed(part, fault, cause);
      }
    }
    const records = Object.fromEntries([...counted].map(([kind, { records }]) => [kind, records]));
    const sums = Object.fromEntries([...counted].map(([kind, counting]) => [kind, counting.sums()]));
    const end = lineOf({ end: { records, sums, sha256: digest.digest('hex') } });
    waiting.push(end);
    yield taken();
    done({ records, sums });
  }

  /** What this panel has of some kinds now, without writing it. */
  async measure(kinds: ReadonlySet<string>): Promise<ReadonlyMap<string, Counting>> {
    const measured = new Map<string, Counting>();
    const slice = new TimeSlice();
    for (const { value: part, fault } of this.#parts.inOrder()) {
      if (!kinds.has(part.kind)) continue;
      const counting = new Counting();
      measured.set(part.kind, counting);
      try {
        for await (const records of part.export({ secrets: false }))
          for (const record of records as readonly ArchiveRecord[]) {
            if (slice.isOver) await slice.next();
            counting.add(part.sums?.(record));
          }
      } catch (cause) {
        throw failed(part, fault, cause);
      }
    }
    return measured;
  }

  #header(secrets: boolean, at: Date): ArchiveHeader {
    return {
      archive: 'weir',
      version: FORMAT_VERSION,
      release: RELEASE,
      madeAt: at.toISOString(),
      secrets,
      kinds: this.#parts.inOrder().map(({ value: { kind, version, about } }) => ({ kind, version, about })),
    };
  }
}
