// The last entries of the log that an admin wants to see.
import type { ClientsApi } from '../clients/contract.js';
import type { CoreLogApi, CoreLogEntry } from '../engine/contract.js';

/** Of a text that a user chose; a line is shown, not stored. */
const LONGEST_TEXT = 1_024;

export interface Wanted {
  readonly filter?: string;
  readonly showDirect?: boolean;
  readonly showBlocked?: boolean;
  readonly showProxy?: boolean;
}
const EVENTS = { direct: 0, blocked: 1, proxied: 2 } as const;

/** The part of the log that is looked at; undefined: all of it. */
export interface Range {
  /** places, see `CoreLogApi.end` */
  readonly after?: number;
  readonly end: number;
}
/** The field names are those of the API description. */
export interface Shown {
  readonly DateTime: string;
  readonly FromAddress: string;
  readonly ToAddress: string;
  readonly Inbound: string;
  readonly Outbound: string;
  readonly Email: string;
  readonly Event: number;
}

/** Remembers texts that many lines share: a text that occurs nowhere costs 70,000 lines. */
class Remembered<K, V> {
  readonly #values = new Map<K, V>();
  readonly #make: (key: K) => V;
  constructor(make: (key: K) => V) {
    this.#make = make;
  }
  of(key: K): V {
    let value = this.#values.get(key);
    if (value === undefined) this.#values.set(key, (value = this.#make(key)));
    return value;
  }
}

/** Oldest first: the newest `count` entries that are wanted. */
export async function lastEntries(
  needs: { coreLog: CoreLogApi | undefined; clients: ClientsApi },
  count: number,
  wanted: Wanted,
): Promise<Shown[]> {
  return (await entriesIn(needs, count, wanted)).entries;
}

/** With `after`, all of the range is looked at, and `more` says how many further entries were wanted. */
export async function entriesIn(
  { coreLog, clients }: { coreLog: CoreLogApi | undefined; clients: ClientsApi },
  count: number,
  { filter = '', showDirect = true, showBlocked = true, showProxy = true }: Wanted,
  range?: Range,
): Promise<{ readonly entries: Shown[]; readonly more: number }> {
  const show = { direct: showDirect, blocked: showBlocked, proxied: showProxy };
  const wanted = filter.toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  const times = new Remembered((at: number) => new Date(at).toISOString());
  const timeHas = new Remembered((at: number) => has(times.of(at)));
  const tagHas = new Remembered(has);
  const users = new Map<string, { readonly email: string; readonly has: boolean }>();
  const userOf = ({ name, user }: CoreLogEntry) => {
    let known = users.get(name);
    if (!known) {
      // The name of a client that was deleted since is that of the core.
      const email = (user && clients.byId(user.clientId)?.email) ?? name;
      users.set(name, (known = { email, has: has(email) }));
    }
    return known;
  };
  const isWanted = (line: CoreLogEntry): boolean =>
    wanted === '' ||
    has(line.to) ||
    // Addresses have no capital letters.
    line.from.includes(wanted) ||
    tagHas.of(line.inbound) ||
    tagHas.of(line.outbound) ||
    userOf(line).has ||
    timeHas.of(line.at) ||
    wanted === String(EVENTS[line.way]);
  const entries: Shown[] = [];
  let more = 0;
  await coreLog?.readBackwards((line, at) => {
    // It was written after the end was asked for.
    if (range && at > range.end) return true;
    if (range?.after !== undefined && at <= range.after) return false;
    if (!show[line.way] || !isWanted(line)) return true;
    if (entries.length >= count) {
      more++;
      return true;
    }
    entries.push({
      DateTime: times.of(line.at),
      FromAddress: line.from,
      ToAddress: line.to,
      Inbound: line.inbound,
      Outbound: line.outbound,
      Email: userOf(line).email,
      Event: EVENTS[line.way],
    });
    return range?.after !== undefined || entries.length < count;
  });
  return { entries: entries.reverse(), more };
}

/** With texts that a message can hold. */
export const shortened = (entry: Shown): Shown => ({
  ...entry,
  FromAddress: entry.FromAddress.slice(0, LONGEST_TEXT),
  ToAddress: entry.ToAddress.slice(0, LONGEST_TEXT),
});
