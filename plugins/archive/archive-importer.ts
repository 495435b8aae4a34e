// Takes an archive into this panel, kind by kind, and says what was taken, what was left, and whether the sums are those of the archive.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Contributed, kernelErrors, messageOf, PanelError, type Principal } from '../../kernel/index.js';
import { ArchiveReader, type CheckedArchive } from './archive-reader.js';
import type { ArchiveWriter } from './archive-writer.js';
import type { ArchiveImport, ArchivePart, ArchiveRecord, ArchiveReferences } from './contract.js';
import { errors } from './errors.js';
import { Counting, MOST_FILE_BYTES } from './format.js';
import { numbersOf, type Parts } from './parts.js';

/** Reasons that are listed for each kind; the others are counted. */
const MOST_LISTED = 1000;

const WHY_UNREAD: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'the user of the panel may not read it',
};

export interface Said {
  readonly name: string;
  readonly reason: string;
}
export interface ComparedSum {
  readonly name: string;
  /** as digits: in the archive, in the records that were taken, and in this panel before and after */
  readonly archive: string;
  readonly taken: string;
  readonly before: string;
  readonly after: string;
}
export interface KindReport {
  readonly kind: string;
  /** in the archive */
  readonly records: number;
  readonly taken: number;
  readonly left: readonly Said[];
  readonly leftCount: number;
  readonly notes: readonly Said[];
  readonly noteCount: number;
  readonly sums: readonly ComparedSum[];
}
export interface ImportReport {
  readonly applied: boolean;
  readonly release: string;
  readonly madeAt: string;
  readonly kinds: readonly KindReport[];
}

class Listed {
  readonly list: Said[] = [];
  count = 0;
  add(name: string, reason: string): void {
    if (this.count++ < MOST_LISTED)
      this.list.push({ name: name.slice(0, 200), reason: reason.slice(0, 1000) });
  }
  /** Several with one reason. */
  addAll(count: number, name: string, reason: string): void {
    if (this.list.at(-1)?.reason !== reason) this.add(name, reason);
    else this.count++;
    this.count += count - 1;
  }
}

/** Records to which others refer; of inbounds and nodes, a panel has some thousands. */
const MOST_REFERENCES = 200_000;
const MOST_ID = 100;

class References implements ArchiveReferences {
  readonly #here = new Map<string, Parameters<ArchiveReferences['set']>[2]>();

  set(kind: string, id: unknown, here: Parameters<ArchiveReferences['set']>[2]): void {
    const key = this.#key(kind, id);
    if (key === undefined || this.#here.has(key)) return;
    if (this.#here.size === MOST_REFERENCES)
      throw errors.REFUSED(
        `more than ${MOST_REFERENCES} of its records can be referred to; what came before was taken`,
      );
    this.#here.set(key, here);
  }
  get(kind: string, id: unknown): ReturnType<ArchiveReferences['get']> {
    return this.#here.get(this.#key(kind, id) ?? '');
  }
  #key(kind: string, id: unknown): string | undefined {
    const isId = typeof id === 'number' || (typeof id === 'string' && id.length <= MOST_ID);
    return isId ? `${kind} ${id}` : undefined;
  }
}

/** The records of an archive, one kind after another. */
class Portions {
  readonly #all: ReturnType<ArchiveReader['records']>;
  #next: Awaited<ReturnType<ReturnType<ArchiveReader['records']>['next']>> | undefined;

  constructor(all: ReturnType<ArchiveReader['records']>) {
    this.#all = all;
  }

  /** The kind of the records that come next; undefined at the end. */
  async kind(): Promise<string | undefined> {
    this.#next ??= await this.#all.next();
    return this.#next.done ? undefined : this.#next.value.kind;
  }

  async *of(
    kind: string,
    counted: (record: ArchiveRecord) => void,
  ): AsyncGenerator<readonly ArchiveRecord[]> {
    while ((await this.kind()) === kind) {
      const { records } = (this.#next as { value: { records: readonly ArchiveRecord[] } }).value;
      this.#next = undefined;
      for (const record of records) counted(record);
      yield records;
    }
  }

  async close(): Promise<void> {
    await this.#all.return(undefined);
  }
}

class KindProgress {
  readonly archive = new Counting();
  readonly taken = new Counting();
  readonly left = new Listed();
  readonly notes = new Listed();
}

/** Those of the plugins here. */
type PartsByKind = ReadonlyMap<string, Contributed<ArchivePart>>;

function refuseNewer({ header }: CheckedArchive, parts: PartsByKind): void {
  for (const { kind, version } of header.kinds) {
    const here = parts.get(kind)?.value;
    if (here && version > here.version)
      throw errors.REFUSED(
        `the archive has ${kind} in the form ${version}, of the release ${header.release.slice(0, 40)}; this panel reads up to ${here.version}. Upgrade the panel first; nothing was changed`,
      );
  }
}

export interface ImportOptions {
  readonly apply: boolean;
  readonly settings: boolean;
  readonly who: Principal;
  readonly signal: AbortSignal;
}

export class ArchiveImporter {
  readonly #parts: Parts;
  readonly #writer: ArchiveWriter;
  #isBusy = false;

  constructor({ parts, writer }: { parts: Parts; writer: ArchiveWriter }) {
    this.#parts = parts;
    this.#writer = writer;
  }

  /** Rejects, with nothing changed, where the archive is not whole; records that cannot be taken are left and listed. */
  async run(path: string, options: ImportOptions): Promise<ImportReport> {
    if (this.#isBusy) throw errors.BUSY();
    this.#isBusy = true;
    try {
      // Without O_NONBLOCK, a pipe would be waited for.
      const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
        (cause: NodeJS.ErrnoException) => {
          const reason = WHY_UNREAD[cause.code ?? ''] ?? cause.code ?? cause.message;
          throw errors.REFUSED(`${path} cannot be read: ${reason}`, { cause });
        },
      );
      try {
        const facts = await file.stat();
        if (!facts.isFile()) throw errors.REFUSED(`${path} is not a file`);
        if (facts.size > MOST_FILE_BYTES)
          throw errors.REFUSED(`${path} has more than ${MOST_FILE_BYTES} bytes`);
        const reader = new ArchiveReader(file, options.signal);
        const parts: PartsByKind = new Map(this.#parts.inOrder().map((part) => [part.value.kind, part]));
        const checked = await reader.check((kind, record) => numbersOf(parts.get(kind)?.value, record));
        refuseNewer(checked, parts);
        return await this.#take(reader, checked, parts, options);
      } finally {
        await file.close();
      }
    } finally {
      this.#isBusy = false;
    }
  }

  async #take(
    reader: ArchiveReader,
    { header }: CheckedArchive,
    parts: PartsByKind,
    options: ImportOptions,
  ): Promise<ImportReport> {
    const kinds = new Set(header.kinds.map(({ kind }) => kind));
    const before = await this.#writer.measure(kinds);
    const progress = new Map([...kinds].map((kind) => [kind, new KindProgress()]));
    const references = new References();
    const portions = new Portions(reader.records());
    try {
      for (let kind = await portions.kind(); kind !== undefined; kind = await portions.kind()) {
        const own = progress.get(kind) as KindProgress;
        const found = parts.get(kind);
        const counted = (record: ArchiveRecord): void => own.archive.add(numbersOf(found?.value, record));
        if (found)
          await this.#run(
            found.value,
            portions.of(kind, counted),
            this.#importOf(own, found.value, references, options),
            found.fault,
          );
        // What the part has not read, or all of a kind that no plugin here takes: listed once, as it is the same for all.
        for await (const rest of portions.of(kind, counted))
          own.left.addAll(
            rest.length,
            kind,
            found ? 'it was not read' : 'no plugin of this panel takes this kind of record',
          );
      }
    } finally {
      await portions.close();
    }
    const after = options.apply ? await this.#writer.measure(kinds) : before;
    return {
      applied: options.apply,
      release: header.release,
      madeAt: header.madeAt,
      kinds: header.kinds.map(({ kind }) =>
        reportOf(kind, progress.get(kind) as KindProgress, before.get(kind), after.get(kind)),
      ),
    };
  }

  #importOf(
    own: KindProgress,
    part: ArchivePart,
    references: References,
    { apply, settings, who, signal }: ImportOptions,
  ): ArchiveImport {
    return {
      apply,
      settings,
      who,
      signal,
      references,
      taken: (record) => own.taken.add(numbersOf(part, record)),
      left: (name, reason) => own.left.add(name, reason),
      note: (name, what) => own.notes.add(name, what),
    };
  }

  async #run(
    part: ArchivePart,
    records: AsyncIterable<readonly ArchiveRecord[]>,
    run: ArchiveImport,
    fault: (where: string, error: unknown) => void,
  ): Promise<void> {
    try {
      await part.import(records, run);
    } catch (cause) {
      if (cause instanceof PanelError || run.signal.aborted) throw cause;
      fault(`import of ${part.kind}`, cause);
      throw kernelErrors.PLUGIN_FAILED(
        `the import stopped at ${part.kind}: ${messageOf(cause)}; what came before it was taken. Import the archive again when that is fixed: what is here is left`,
        { cause },
      );
    }
  }
}

function reportOf(
  kind: string,
  { archive, taken, left, notes }: KindProgress,
  before = new Counting(),
  after = new Counting(),
): KindReport {
  const sums = Object.keys(archive.sums()).map((name) => ({
    name,
    archive: String(archive.get(name)),
    taken: String(taken.get(name)),
    before: String(before.get(name)),
    after: String(after.get(name)),
  }));
  return {
    kind,
    records: archive.records,
    taken: taken.records,
    left: left.list,
    leftCount: left.count,
    notes: notes.list,
    noteCount: notes.count,
    sums,
  };
}
