// The difference of two templates, as a JSON Patch (RFC 6902).
import type { DiffContext, Filter } from 'jsondiffpatch';
import type { JsonObject } from '../engine/contract.js';

/** Pairs of entries that are compared in one list: memory and time grow with them. 700 by 700 take some 40 ms. */
const MOST_PAIRS = 500_000;

/** Entries of a list are the same ones where their tags are, so that one more in front does not change all others. */
function nameOf(item: unknown): string {
  const { tag, ruleTag } = (typeof item === 'object' && item !== null ? item : {}) as {
    readonly tag?: unknown;
    readonly ruleTag?: unknown;
  };
  if (typeof tag === 'string') return tag;
  return typeof ruleTag === 'string' ? ruleTag : JSON.stringify(item);
}

/** Whether what differs in two lists is too long to be compared entry by entry. */
function isLong(left: readonly unknown[], right: readonly unknown[]): boolean {
  const shorter = Math.min(left.length, right.length);
  const pairs = (begin: number, end: number): number =>
    (left.length - begin - end) * (right.length - begin - end);
  if (pairs(0, 0) <= MOST_PAIRS) return false;
  const isSame = (a: number, b: number): boolean => nameOf(left[a]) === nameOf(right[b]);
  let begin = 0;
  while (begin < shorter && isSame(begin, begin)) begin += 1;
  let end = 0;
  while (end < shorter - begin && isSame(left.length - 1 - end, right.length - 1 - end)) end += 1;
  return pairs(begin, end) > MOST_PAIRS;
}

export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export async function comparison(from: JsonObject, to: JsonObject): Promise<PatchOperation[]> {
  // Loaded when it is needed: it takes 7 MiB of memory.
  const [{ create }, { format }] = await Promise.all([
    import('jsondiffpatch'),
    import('jsondiffpatch/formatters/jsonpatch'),
  ]);
  /** of this comparison; an entry is asked for its name once for each other one */
  const names = new WeakMap<object, string>();
  const differ = create({
    objectHash: (item: object) => {
      const known = names.get(item);
      if (known !== undefined) return known;
      const name = nameOf(item);
      names.set(item, name);
      return name;
    },
  });
  /** Long lists are replaced as a whole. */
  const long: Filter<DiffContext> = (context) => {
    const { left, right } = context;
    if (Array.isArray(left) && Array.isArray(right) && isLong(left, right))
      context.setResult([left, right]).exit();
  };
  long.filterName = 'long';
  differ.processor.pipes.diff.before('arrays', long);
  return format(differ.diff(from, to)) as PatchOperation[];
}
