// What differs between two states of a record, field by field, without the values of secrets.

/** By path (`streamSettings.network`): the value before and after. A value is a number, a boolean, null, or a text of at most 200 characters. */
export type Fields = Readonly<Record<string, readonly [before: unknown, after: unknown]>>;

/** Names of fields that hold secrets, in settings of all protocols and transports. */
const SECRET =
  /pass(word|wd|phrase)?$|secret|private|psk|preshared|seed|token|^auth$|authorization|api-?key|^key$|keys$|^decryption$|credential|cookie|license/i;
/** What stands for the value of a secret. */
export const HIDDEN = '(secret)';
const MOST_FIELDS = 100;
const LONGEST = 200;

/** In texts that are addresses: a name with a password, and parameters that are secrets. */
const IN_ADDRESS =
  /(?<=:\/\/)[^\s/?#@]{1,200}(?=@)|(?<=[?&][^\s=&#]{0,40}(?:pass|secret|token|key|auth)[^\s=&#]{0,40}=)[^\s&#]+/gi;
const withoutSecrets = (text: string): string =>
  text.includes('://') ? text.replaceAll(IN_ADDRESS, HIDDEN) : text;

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
  // A secret may begin before the end of what is shown.
  const plain = withoutSecrets(exact.slice(0, 2 * LONGEST));
  return { exact, shown: plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1)}…` : plain };
}

/** Lists are one value, unless they hold objects or lists. */
const isInner = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  (!Array.isArray(value) || value.some((item) => typeof item === 'object' && item !== null));

/** Leaves between two pauses: a template of 10 MiB has hundreds of thousands. */
const AT_ONCE = 500;

interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly hidden: boolean;
}

/** Puts all leaves into `leaves`, in their order; yields now and then. Leaves out the fields of the record that are the very same in `other`: most of them, as a bulk call edits one field in thousands of records. */
function* collect(
  root: object,
  other: object | undefined,
  isSecret: (name: string) => boolean,
  leaves: Leaves,
): Generator<void> {
  const waiting: Place[] = [{ value: root, path: '', hidden: false }];
  for (let count = 1; ; count++) {
    const place = waiting.pop();
    if (!place) return;
    const { value, path, hidden } = place;
    if (count % AT_ONCE === 0) yield;
    if (!isInner(value)) {
      if (value !== undefined) leaves.set(path, leafOf(value, hidden));
      continue;
    }
    const entries = Object.entries(value);
    for (let i = entries.length - 1; i >= 0; i--) {
      const [name, inner] = entries[i] as [string, unknown];
      if (value === root && inner === other?.[name as never]) continue;
      waiting.push({
        value: inner,
        path: path === '' ? name : `${path}.${name}`,
        hidden: hidden || isSecret(name),
      });
    }
  }
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

/** Returns undefined if nothing differs. Yields now and then, for pauses. */
export function* differencesInSteps(
  before: object | undefined,
  after: object | undefined,
  isSecret: (name: string) => boolean,
): Generator<void, Fields | undefined> {
  const [old, fresh]: [Leaves, Leaves] = [new Map(), new Map()];
  if (before) yield* collect(before, after, isSecret, old);
  if (after) yield* collect(after, before, isSecret, fresh);
  const fields: Record<string, readonly [unknown, unknown]> = Object.create(null) as object as never;
  let [count, seen] = [0, 0];
  const compare = (path: string, was: Leaf | undefined, is: Leaf | undefined): void => {
    if (was?.exact === is?.exact) return;
    if ((!before || !after) && saysNothing((was ?? is) as Leaf)) return;
    count += 1;
    if (count <= MOST_FIELDS) fields[path] = [was?.shown ?? null, is?.shown ?? null];
  };
  for (const [path, was] of old) {
    if (++seen % AT_ONCE === 0) yield;
    compare(path, was, fresh.get(path));
  }
  for (const [path, is] of fresh) {
    if (++seen % AT_ONCE === 0) yield;
    if (!old.has(path)) compare(path, undefined, is);
  }
  if (count > MOST_FIELDS) fields['…'] = [null, `${count - MOST_FIELDS} further fields`];
  return count > 0 || !before || !after ? fields : undefined;
}

/** The same without pauses, for small records. */
export function differences(
  before: object | undefined,
  after: object | undefined,
  isSecret: (name: string) => boolean,
): Fields | undefined {
  const steps = differencesInSteps(before, after, isSecret);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
