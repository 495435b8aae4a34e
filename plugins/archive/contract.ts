// A portable archive of what an admin owns: each plugin writes its own records and takes them back.
import { extensionPoint, type Principal, token } from '../../kernel/index.js';

export { idsHere, IS_HERE, takeEach, textIn } from './take-each.js';

/** One record: an object of JSON. */
export type ArchiveRecord = Readonly<Record<string, unknown>>;

/** Where records of an archive are in this panel. Ids differ between panels. */
export interface ArchiveReferences {
  /** Notes that the record of this kind and id is `here` now. In a dry run, `WILL_BE` stands for a record that would be new. An id is a number or a short text, whatever the archive has in its place; of several records with one id, the first has it. */
  set(kind: string, id: unknown, here: number | typeof WILL_BE): void;
  /** Returns its id here; undefined if it was left, or if the archive does not have it. */
  get(kind: string, id: unknown): number | typeof WILL_BE | undefined;
}
/** The id of a record that a dry run would add. */
export const WILL_BE = 'will be';

/** One import of an archive. */
export interface ArchiveImport {
  /** false: a dry run, which writes nothing and finds out what it can */
  readonly apply: boolean;
  /** settings of the archive replace those of this panel */
  readonly settings: boolean;
  readonly who: Principal;
  readonly references: ArchiveReferences;
  /** aborts when nobody waits any more */
  readonly signal: AbortSignal;
  /** Call it for each record that is taken, or that would be. */
  taken(record: ArchiveRecord): void;
  /** Call it for each record that stays out: how an admin knows it, and one clause that says why. */
  left(name: string, reason: string): void;
  /** Something of a taken record that is not here as it was there: one clause. */
  note(name: string, what: string): void;
}

/** Records of one kind. */
export interface ArchivePart {
  /** plural, small letters, digits and hyphens: `inbounds` */
  readonly kind: string;
  /** of the form of its records; an archive with a greater one is refused */
  readonly version: number;
  /** what they are, for the header of the archive: one sentence */
  readonly about: string;
  /** kinds to whose records these refer: they come first */
  readonly after?: readonly string[];
  /** kinds whose records refer to these */
  readonly before?: readonly string[];
  /** Returns numbers of a record that are summed, so that both sides of a move can be compared. A record of an archive may be anything. */
  sums?(record: ArchiveRecord): Readonly<Record<string, unknown>>;
  /** Yields all records, in portions of at most a thousand. `secrets`: also those that open other machines and accounts. */
  export(options: { readonly secrets: boolean }): AsyncIterable<readonly object[]>;
  /** Takes what is new and leaves what is here. Records are checked as the API checks what it gets, and each ends in `taken` or `left`. Rejects only where the import cannot go on. */
  import(portions: AsyncIterable<readonly ArchiveRecord[]>, run: ArchiveImport): Promise<void>;
}
/** The name of a kind. */
export const KIND = /^[a-z][a-z0-9-]{0,63}$/;
/** What archives contain; one entry for each kind of record. */
export const ArchiveParts = extensionPoint<ArchivePart>(
  'archive',
  'ArchiveParts',
  (part, { name: plugin, outside }, others) => {
    const { kind, version, about } = part;
    if (typeof kind !== 'string' || !KIND.test(kind))
      return 'its kind must be small letters, digits and hyphens';
    if (outside && kind !== plugin && !kind.startsWith(`${plugin}-`))
      return `the kind ${kind} must be called ${plugin} or ${plugin}-…, because names of a third-party plugin begin with its own`;
    if (!Number.isSafeInteger(version) || version < 1) return `the kind ${kind} needs a version from 1 on`;
    if (typeof about !== 'string' || about === '') return `the kind ${kind} needs a sentence about it`;
    if (typeof part.export !== 'function' || typeof part.import !== 'function')
      return `the kind ${kind} needs the functions export and import`;
    for (const [name, list] of Object.entries({ after: part.after ?? [], before: part.before ?? [] }))
      if (!Array.isArray(list)) return `${name} of the kind ${kind} must be a list of kinds`;
    const other = others.find(({ value }) => value.kind === kind);
    return other && `the kind ${kind} already exists, in plugin ${other.plugin}`;
  },
);

/** The records of this panel as archives have them, for plugins that write other forms. */
export interface ArchiveRecordsApi {
  /** Yields the records of a kind in portions; nothing where no plugin here has the kind. Without secrets. */
  of(kind: string): AsyncIterable<readonly ArchiveRecord[]>;
}
export const ArchiveRecords = token<ArchiveRecordsApi>('archive', 'ArchiveRecords');
