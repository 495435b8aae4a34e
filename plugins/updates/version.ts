// Versions of Weir, in the order of Semantic Versioning 2.0 (semver.org, point 11).
const VERSION =
  /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;
const LONGEST = 64;

export const isVersion = (text: string): boolean => text.length <= LONGEST && VERSION.test(text);

/** A number ranks below a word, and less than a greater number. */
function compareParts(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  if (!isNumberA) return a === b ? 0 : a < b ? -1 : 1;
  // As text of equal length: a date with a time is more than a safe integer.
  const length = Math.max(a.length, b.length);
  const [left, right] = [a.padStart(length, '0'), b.padStart(length, '0')];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Negative when `a` is the older one, 0 when neither is newer. Throws for what is not a version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) throw new Error(`${JSON.stringify(left ? b : a)} is not a version`);
  for (const at of [1, 2, 3]) {
    const difference = Number(left[at]) - Number(right[at]);
    if (difference !== 0) return difference;
  }
  const [before, after] = [left[4], right[4]];
  // A version without words behind it is the release that they lead to.
  if (before === undefined || after === undefined)
    return Number(before === undefined) - Number(after === undefined);
  const [words, others] = [before.split('.'), after.split('.')];
  for (let at = 0; at < Math.max(words.length, others.length); at++) {
    const [word, other] = [words[at], others[at]];
    if (word === undefined || other === undefined) return word === undefined ? -1 : 1;
    const order = compareParts(word, other);
    if (order !== 0) return order;
  }
  return 0;
}
