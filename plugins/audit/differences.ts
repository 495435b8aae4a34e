// What differs between two states of a record, field by field, without the values of secrets.

/** By path (`streamSettings.network`): the value before and after. A value is a number, a boolean, null, or a text of at most 200 characters. */
export type Fields = Readonly<Record<string, readonly [before: unknown, after: unknown]>>;

/** Names of fields that hold secrets, in settings of all protocols and transports. */
const SECRET =
  /pass(word|wd|phrase)?$|secret|private|psk|preshared|seed|token|^auth$|^key$|keys$|^decryption$|credential|cookie|license/i;
/** What stands for the value of a secret. */
export const HIDDEN = '(secret)';
const MOST_FIELDS = 100;
const LONGEST = 200;

interface Leaf {
  readonly exact: string;
  readonly shown: unknown;
}
type Leaves = Map<string, Leaf>;

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

function leafOf(value: unknown, hidden: boolean): Leaf {
  const exact = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (hidden) return { exact, shown: isBlank(value) ? '' : HIDDEN };
  const isShort = typeof value === 'number' || typeof value === 'boolean' || value === null;
  if (isShort) return { exact, shown: value };
  return { exact, shown: exact.length > LONGEST ? `${exact.slice(0, LONGEST - 1)}…` : exact };
}

/** Lists are one value, unless they hold objects or lists. */
const isInner = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  (!Array.isArray(value) || value.some((item) => typeof item === 'object' && item !== null));

function collect(
  value: unknown,
  path: string,
  hidden: boolean,
  isSecret: (name: string) => boolean,
  leaves: Leaves,
): void {
  if (!isInner(value)) {
    if (value !== undefined) leaves.set(path, leafOf(value, hidden));
    return;
  }
  for (const [name, inner] of Object.entries(value))
    collect(inner, path === '' ? name : `${path}.${name}`, hidden || isSecret(name), isSecret, leaves);
}

/** Whether a field of this name holds a secret; `further` are names that its owner adds. */
export function secretNames(further: readonly string[] = []): (name: string) => boolean {
  const known = new Map<string, boolean>(further.map((name) => [name, true]));
  return (name) => {
    let secret = known.get(name);
    if (secret === undefined) {
      secret = SECRET.test(name);
      if (known.size < 1000) known.set(name, secret);
    }
    return secret;
  };
}

/** Of a record that is new or gone, what says nothing is left out: blank texts, zeros, false, empty lists. */
const saysNothing = ({ exact }: Leaf): boolean => ['', '0', 'false', 'null', '[]', '{}'].includes(exact);

/** Returns undefined if nothing differs. */
export function differences(
  before: object | undefined,
  after: object | undefined,
  isSecret: (name: string) => boolean,
): Fields | undefined {
  const [old, fresh]: [Leaves, Leaves] = [new Map(), new Map()];
  if (before) collect(before, '', false, isSecret, old);
  if (after) collect(after, '', false, isSecret, fresh);
  const fields: Record<string, readonly [unknown, unknown]> = Object.create(null) as object as never;
  let count = 0;
  for (const path of new Set([...old.keys(), ...fresh.keys()])) {
    const [was, is] = [old.get(path), fresh.get(path)];
    if (was?.exact === is?.exact) continue;
    if ((!before || !after) && saysNothing((was ?? is) as Leaf)) continue;
    count += 1;
    if (count <= MOST_FIELDS) fields[path] = [was?.shown ?? null, is?.shown ?? null];
  }
  if (count > MOST_FIELDS) fields['…'] = [null, `${count - MOST_FIELDS} further fields`];
  return count > 0 || !before || !after ? fields : undefined;
}
