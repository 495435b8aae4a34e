// What is to be scanned for a list of entries: names, addresses, networks.
import { messageOf } from '../../kernel/index.js';
import { LONGEST_TARGET, networkOf, placeOf, type Target, targetOf } from './target.js';

export const MOST_TARGETS = 512;
/** With those that are in the list several times. */
const MOST_ENTRIES = 4 * MOST_TARGETS;
const SHOWN = 300;

export interface Task {
  readonly target: Target;
  /** the network that it belongs to, as it was written */
  readonly network: string | undefined;
}
export interface TaskList {
  readonly tasks: readonly Task[];
  /** entries that are neither */
  readonly invalid: readonly { readonly entry: string; readonly reason: string }[];
  /** networks of which only the first addresses are scanned, with their sizes */
  readonly cut: ReadonlyMap<string, bigint>;
}

/** Throws with a sentence if there are too many. */
export function taskListOf(entries: readonly string[]): TaskList {
  if (entries.length > MOST_ENTRIES) throw tooMany();
  const tasks = new Map<string, Task>();
  const invalid: { entry: string; reason: string }[] = [];
  const cut = new Map<string, bigint>();
  const add = (task: Task): void => {
    const place = placeOf(task.target.host, task.target.port);
    // An address that is named counts as that, not as one of a network.
    if (!tasks.has(place) || task.network === undefined) tasks.set(place, task);
    if (tasks.size + invalid.length > MOST_TARGETS) throw tooMany();
  };
  for (const entry of entries) {
    try {
      if (!isNetwork(entry)) {
        add({ target: targetOf(entry), network: undefined });
        continue;
      }
      const { addresses, size } = networkOf(entry);
      if (size > addresses.length) cut.set(entry, size);
      for (const host of addresses) add({ target: { host, isAddress: true, port: 443 }, network: entry });
    } catch (error) {
      if (error instanceof TooMany) throw error;
      invalid.push({ entry: entry.slice(0, SHOWN), reason: messageOf(error) });
      if (tasks.size + invalid.length > MOST_TARGETS) throw tooMany();
    }
  }
  return { tasks: [...tasks.values()], invalid, cut };
}

class TooMany extends Error {}
const tooMany = () =>
  new TooMany(`there are more than ${MOST_TARGETS} targets; each address of a network counts as one`);

const isNetwork = (entry: string): boolean => entry.includes('/') && !entry.includes('://');

/** Entries of a text, which commas, blanks and line breaks separate. */
export const entriesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export const LONGEST_LIST = MOST_TARGETS * LONGEST_TARGET;

/** For the setting: all entries must be valid. Throws with the first that is not. */
export function checkedEntries(text: string): string {
  const [wrong] = taskListOf(entriesIn(text)).invalid;
  if (wrong) throw new Error(wrong.reason);
  return text;
}
