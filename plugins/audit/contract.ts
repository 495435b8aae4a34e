// Records who changed what: each hook inside a write becomes entries, in the same transaction.
import { type During, extensionPoint, type Principal, token, type Tx } from '../../kernel/index.js';

/** `done` is an act that changes no record: a restart, a download. */
export type ChangeKind = 'added' | 'updated' | 'deleted' | 'done';

/** One change of one record, as its owner describes it. */
export interface DescribedChange {
  readonly kind: ChangeKind;
  /** what an admin calls the record: an email, a tag, the name of a setting */
  readonly name: string;
  /** what stays when the name changes; blank without one */
  readonly id?: string | number;
  /** Fields, with objects and lists inside; undefined before it was added and after it was deleted. Secrets may be among them: see `secret`. */
  readonly before: object | undefined;
  readonly after: object | undefined;
}

/** Changes of one kind of record that are recorded. */
export interface AuditedHook<C> {
  /** kind of the record, in the API's word: `client`; one entry of the list for each */
  readonly area: string;
  /** called inside the write that makes the changes */
  readonly hook: During<{ readonly changes: readonly C[]; readonly who: Principal }>;
  /** Returns undefined for what is not recorded. Synchronous and quick: a bulk call has thousands. */
  describe(change: C): DescribedChange | undefined;
  /** Names of fields, at any depth, whose values are not recorded, only that they changed. Fields whose names say that they are secret (`password`, `privateKey`, `token` …) never are. */
  readonly secret?: readonly string[];
}

export { type RecordChange, recordUndoer } from './record-undoer.js';
export {
  ADDED,
  type KeptChange,
  keptUpdate,
  type UndoCaller,
  type Undoer,
  undoer,
  Undoers,
} from './undoers.js';

const AREA = /^[a-z][a-zA-Z0-9-]{0,31}$/;
/** What is recorded. A plugin adds its own hooks. */
export const AuditedHooks = extensionPoint<AuditedHook<never>>(
  'audit',
  'AuditedHooks',
  ({ area, hook, describe }, { outside, hooks }, others) => {
    if (typeof area !== 'string' || !AREA.test(area))
      return 'area must be a word of at most 32 letters, digits and hyphens';
    const other = others.find(({ value }) => value.area === area);
    if (other) return `the area ${area} already exists, in plugin ${other.plugin}`;
    if (hook?.kind !== 'during' || typeof describe !== 'function')
      return 'it needs a hook that is called inside a write (during), and a function describe';
    // A hook that nobody declares would be a fault of this plugin.
    return outside && !hooks.includes(hook)
      ? `the hook ${hook.id} must be one that its plugin declares in \`hooks\``
      : undefined;
  },
);
/** An entry for `AuditedHooks`, with the type of its changes checked. */
export const audited = <C>(entry: AuditedHook<C>): AuditedHook<never> => entry as AuditedHook<never>;

/** What a plugin records itself, where it has no hook. The owner of the change calls it. */
export interface AuditTrailApi {
  /** Records changes within the caller's write: both are stored, or neither. `secret` as of `AuditedHook`. */
  record(
    tx: Tx,
    area: string,
    who: Principal,
    changes: readonly DescribedChange[],
    secret?: readonly string[],
  ): Promise<void>;
  /** Records an act that changes no record. Await it before the act, outside of a write. Waits at most two seconds and never rejects: while the database fails, an admin must still be able to restart the core, and then the log has the entry. */
  act(area: string, who: Principal, act: { readonly name: string; readonly facts?: object }): Promise<void>;
}
export const AuditTrail = token<AuditTrailApi>('audit', 'AuditTrail');
