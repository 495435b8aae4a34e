// A call of the script, and what it changes: either all of it is stored, or nothing.
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../harness/random.js';
import { AREAS, type Fields, type Ids, type Stored } from './stored.js';

export interface Act {
  /** below /panel/api/, with its parameters */
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body?: unknown;
  /** in place of a body: a file */
  readonly form?: FormData;
  /** By `area/name`: the fields that change, all of a new record where it is not initial, undefined for what goes. */
  readonly change?: Readonly<Record<string, Fields | undefined>>;
  /** Each record comes whole or not at all, and not all of them together: an import goes on where it was interrupted. */
  readonly separately?: boolean;
}

export interface World {
  readonly random: Random;
  /** what is known to be stored */
  readonly stored: Stored;
  readonly ids: Ids;
  /** a name that nothing has had yet */
  fresh(start: string): string;
  /** Names of an area that begin with this. */
  named(area: string, start: string): string[];
  /** of what may have come since the last restart */
  id(key: string): Promise<string | number>;
  port(): Promise<number>;
}

/** One endpoint of the script. */
export interface Part {
  /** as docs/reference/api.json has it, below /panel/api/ */
  readonly route: string;
  /** undefined: there is nothing to call it with at the moment */
  make(world: World): Act | undefined | Promise<Act | undefined>;
}

/** What a record is after a change. */
function after(stored: Stored, key: string, change: Fields | undefined): Fields | undefined {
  if (change === undefined) return undefined;
  const initial = AREAS[key.slice(0, key.indexOf('/'))]?.initial ?? {};
  return { ...(stored.get(key) ?? initial), ...change };
}

export function apply(stored: Stored, { change = {} }: Act): void {
  for (const [key, fields] of Object.entries(change)) {
    const value = after(stored, key, fields);
    if (value === undefined) stored.delete(key);
    else stored.set(key, value);
  }
}

/** Takes over what became of an act that nobody answered; says what is neither as before nor as after it. */
export function settle(known: Stored, found: Stored, act: Act): string[] {
  const { change = {}, path, separately = false } = act;
  const keys = Object.keys(change).map((key) => {
    const is = found.get(key);
    return {
      key,
      is,
      isOld: isDeepStrictEqual(is, known.get(key)),
      isNew: isDeepStrictEqual(is, after(known, key, change[key])),
    };
  });
  const wrong = keys.filter(({ isOld, isNew }) => !isOld && !isNew);
  const isHalf = !separately && !keys.every(({ isOld }) => isOld) && !keys.every(({ isNew }) => isNew);
  for (const { key, is } of keys)
    if (is === undefined) known.delete(key);
    else known.set(key, is);
  const told = isHalf ? keys : wrong;
  return told.map(
    ({ key, is, isOld }) =>
      `${path}, which was not answered, is there in part: ${key} is ${isOld ? 'as before' : JSON.stringify(is)}; wanted ${JSON.stringify(change[key])}`,
  );
}

/** What is stored against what is known. */
export function differences(known: Stored, found: Stored): string[] {
  return [...new Set([...known.keys(), ...found.keys()])]
    .filter((key) => !isDeepStrictEqual(known.get(key), found.get(key)))
    .map((key) => `${key} was ${JSON.stringify(known.get(key))} and is ${JSON.stringify(found.get(key))}`);
}
