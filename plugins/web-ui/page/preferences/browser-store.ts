// Preferences in the storage of the browser, for the first paint, and those of the admin at the panel. What was chosen and
// did not reach the panel stays, and is sent again.
import { chosenIn, DEFAULTS, type Preferences, preferencesOf, type PreferencesStore } from './preferences.js';

type Changes = Partial<Preferences>;
/** The preferences of the admin who is logged in; both calls return all that he has. */
export interface PanelPreferences {
  get(): Promise<unknown>;
  set(changes: Changes): Promise<unknown>;
}
export interface SharedStore extends PreferencesStore {
  /** Sends the panel what it does not have, and takes what another browser has chosen. Rejects as the calls do. */
  meet(owner: string, panel: PanelPreferences): Promise<void>;
  /** whether something that was chosen did not reach the panel */
  isUnsent(): boolean;
  /** how often something was chosen on this page */
  writes(): number;
}

const KEY = 'weir.preferences';
/** Whose they are; missing before the first login. */
const OWNER = 'owner';
/** By owner, blank before a login: what did not reach the panel. */
const UNSENT_KEY = 'weir.preferences.unsent';

interface Stored {
  readonly values: Preferences;
  readonly owner: string | undefined;
  readonly unsent: Readonly<Record<string, Changes>>;
}

const recordOf = (text: string | null): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};
const differing = (values: Preferences) =>
  Object.entries(values).filter(([name, value]) => DEFAULTS[name as keyof Preferences] !== value);
const without = (all: Stored['unsent'], owner: string): Stored['unsent'] =>
  Object.fromEntries(Object.entries(all).filter(([name]) => name !== owner));

/** A browser may forbid its storage; the choices then last as long as the page, or are at the panel. */
export function browserStore(storage: () => Storage): SharedStore {
  const load = (): Stored => {
    try {
      const text = storage().getItem(KEY);
      const owner = recordOf(text)[OWNER];
      const unsent = Object.entries(recordOf(storage().getItem(UNSENT_KEY)));
      return {
        values: preferencesOf(text),
        owner: typeof owner === 'string' ? owner : undefined,
        unsent: Object.fromEntries(unsent.map(([name, changes]) => [name, chosenIn(changes)])),
      };
    } catch {
      return { values: DEFAULTS, owner: undefined, unsent: {} };
    }
  };
  let current = load();
  const listeners = new Set<() => void>();
  const enter = (next: Stored): void => {
    const isSame = JSON.stringify(next.values) === JSON.stringify(current.values);
    current = isSame ? { ...next, values: current.values } : next;
    for (const listener of listeners) listener();
  };
  const save = (next: Stored): void => {
    const { values, owner, unsent } = next;
    try {
      storage().setItem(KEY, JSON.stringify({ ...values, ...(owner !== undefined && { [OWNER]: owner }) }));
      storage().setItem(UNSENT_KEY, JSON.stringify(unsent));
    } catch {
      // Forbidden or full.
    }
    enter(next);
  };
  globalThis.addEventListener?.('storage', ({ key }: StorageEvent) => {
    if (key === KEY || key === UNSENT_KEY) enter(load());
  });
  const unsentOf = (owner: string): Changes => current.unsent[owner] ?? {};
  let writes = 0;
  /** whether values are here that nobody has claimed, and that the panel may not have */
  let isAdopting = false;
  /** What was chosen before the login is of the one who logs in; choices of somebody else are not. */
  const claim = (owner: string): void => {
    const early = unsentOf('');
    const own = { ...unsentOf(owner), ...early };
    isAdopting = current.owner === undefined;
    const unsent = { ...without(current.unsent, ''), ...(Object.keys(own).length > 0 && { [owner]: own }) };
    save({ values: { ...(isAdopting ? current.values : DEFAULTS), ...own }, owner, unsent });
  };
  return {
    read: () => current.values,
    isUnsent: () => Object.keys(unsentOf(current.owner ?? '')).length > 0,
    writes: () => writes,
    write(changes) {
      writes++;
      const owner = current.owner ?? '';
      const unsent = { ...current.unsent, [owner]: { ...unsentOf(owner), ...changes } };
      save({ ...current, values: { ...current.values, ...changes }, unsent });
    },
    async meet(owner, panel) {
      if (current.owner !== owner) claim(owner);
      let there = chosenIn(await panel.get());
      if (isAdopting) {
        const early = differing(current.values).filter(([name]) => !Object.hasOwn(there, name));
        const unsent = { ...Object.fromEntries(early), ...unsentOf(owner) };
        save({ ...current, unsent: { ...current.unsent, [owner]: unsent } });
      }
      // What is chosen while a call is under way goes with the next one.
      for (;;) {
        const sent = unsentOf(owner);
        if (Object.keys(sent).length > 0) there = chosenIn(await panel.set(sent));
        // Somebody else has logged in meanwhile.
        if (current.owner !== owner) return;
        isAdopting = false;
        const left = Object.fromEntries(
          Object.entries(unsentOf(owner)).filter(
            ([name, value]) => sent[name as keyof Preferences] !== value,
          ),
        );
        const isDone = Object.keys(left).length === 0;
        const others = without(current.unsent, owner);
        save({
          owner,
          unsent: isDone ? others : { ...others, [owner]: left },
          values: { ...current.values, ...there, ...left },
        });
        if (isDone) return;
      }
    },
    subscribe(changed) {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
}
