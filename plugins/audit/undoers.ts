// How changes are undone: the owner of a record says what a reversal needs, what the record is now, and does it.
import { extensionPoint, type Principal } from '../../kernel/index.js';
import { canonical } from '../record-versions/contract.js';
import type { ChangeKind } from './contract.js';

/** What is kept of one change, as JSON. Secrets may be among it: it is stored encrypted, and for hours. */
export interface KeptChange {
  readonly kind: Exclude<ChangeKind, 'done'>;
  /** what stays when the name changes */
  readonly id: string | number;
  readonly name: string;
  /** Of an update, the fields that differ; of a deletion, in `before`, what makes the record again. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/** The caller that undoes, as routes know it. */
export interface UndoCaller extends Principal {
  readonly ip: string;
  /** host under which the call came */
  readonly host: string;
}

/** How the changes of one kind of record are undone. */
export interface Undoer<C> {
  /** that of an entry of `AuditedHooks`, whose changes it gets */
  readonly area: string;
  /** Called inside the write, with all changes of a call. Resolves with what is kept of each, or with why they cannot be undone, for people. */
  keep(changes: readonly C[]): readonly KeptChange[] | string | Promise<readonly KeptChange[] | string>;
  /** The fields that `keep` keeps, as they are now; undefined for a record that is gone. */
  now(change: KeptChange): Readonly<Record<string, unknown>> | undefined;
  /** Does the reverse by the owner's service, with its checks, in one write: all or nothing. Resolves with what is to be said of it. */
  undo(changes: readonly KeptChange[], who: UndoCaller): Promise<string>;
}

/** Kinds of records whose changes can be undone; one entry for each area. */
export const Undoers = extensionPoint<Undoer<never>>(
  'audit',
  'Undoers',
  ({ area, keep, now, undo }, _, others) => {
    if ([keep, now, undo].some((part) => typeof part !== 'function'))
      return 'it needs the functions keep, now and undo';
    const other = others.find(({ value }) => value.area === area);
    return other && `the area ${area} already exists, in plugin ${other.plugin}`;
  },
);
/** An entry for `Undoers`, with the type of its changes checked. */
export const undoer = <C>(entry: Undoer<C>): Undoer<never> => entry as Undoer<never>;

export const ADDED = 'what was added is not removed by an undo; delete it';

/** What is kept of an update: the fields that differ. */
export function keptUpdate(
  { id, name }: Pick<KeptChange, 'id' | 'name'>,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): KeptChange {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !sameValue(before[field], after[field]),
  );
  const some = (of: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((field) => [field, of[field] ?? null]));
  return { kind: 'updated', id, name, before: some(before), after: some(after) };
}

/** Whether two values are the same JSON. Keys of objects may come in another order. */
export const sameValue = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b);
