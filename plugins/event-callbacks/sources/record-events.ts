// Events of records that are added, changed and deleted.
import type { During, Principal } from '../../../kernel/index.js';
import { type CallbackEvent, type CallbackSource, callbackSource } from '../contract.js';

/** Who made a change, without an address. */
export const byOf = ({ kind, name }: Principal): { kind: string; name: string } => ({ kind, name });

interface RecordChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: unknown;
  readonly after: unknown;
}
const VERBS = { added: 'created', updated: 'updated', deleted: 'deleted' } as const;

/** `area.created`, `area.updated` and `area.deleted`, with the record under its name. */
export function recordEvents<C extends RecordChange>(
  area: string,
  called: string,
  hook: During<{ readonly changes: readonly C[]; readonly who: Principal }>,
  describe: (record: NonNullable<C['after']>) => { readonly name: string; readonly shown: object },
): CallbackSource<never> {
  return callbackSource<{ readonly changes: readonly C[]; readonly who: Principal }>({
    types: {
      [`${area}.created`]: `${called} was added.`,
      [`${area}.updated`]: `${called} was changed.`,
      [`${area}.deleted`]: `${called} was deleted.`,
    },
    hook,
    *describe({ changes, who }): Iterable<CallbackEvent> {
      for (const { kind, before, after } of changes) {
        const record = (after ?? before) as NonNullable<C['after']> | undefined;
        if (!record) continue;
        const { name, shown } = describe(record);
        yield { type: `${area}.${VERBS[kind]}`, name, data: { [area]: shown, by: byOf(who) } };
      }
    },
  });
}

/** The names of the fields that differ; values are compared as JSON. */
export function changedFields(before: object, after: object, names: readonly string[]): string[] {
  const [one, other] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  return names.filter(
    (name) => one[name] !== other[name] && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
  );
}
export const picked = (record: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, (record as Record<string, unknown>)[name] ?? null]));
