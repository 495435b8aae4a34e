// What a reader has chosen about the page. Stored in this browser for now; the rest of the page knows only the interface.

export interface Preferences {
  /** key of a language; blank: the browser's */
  readonly language: string;
  readonly theme: 'system' | 'light' | 'dark';
  readonly units: 'binary' | 'decimal';
  /** a zone of the IANA list; blank: the browser's */
  readonly timeZone: string;
  /** blank: that of the language */
  readonly calendar: '' | 'gregory' | 'persian';
  /** whether single keys, such as j and k, do something */
  readonly singleKeys: boolean;
}

export const DEFAULTS: Preferences = {
  language: '',
  theme: 'system',
  units: 'binary',
  timeZone: '',
  calendar: '',
  singleKeys: true,
};

export interface PreferencesStore {
  read(): Preferences;
  write(changes: Partial<Preferences>): void;
  /** Calls `changed` after each change, also of another window; returns what ends it. */
  subscribe(changed: () => void): () => void;
}

const KEY = 'weir.preferences';
const CHOICES: { readonly [K in keyof Preferences]?: readonly Preferences[K][] } = {
  theme: ['system', 'light', 'dark'],
  units: ['binary', 'decimal'],
  calendar: ['', 'gregory', 'persian'],
};

/** What is stored may be of another version, or edited: each value that does not fit is the default. */
export function preferencesOf(text: string | null): Preferences {
  let stored: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    if (typeof parsed === 'object' && parsed !== null) stored = parsed as Record<string, unknown>;
  } catch {
    // Not JSON: as if nothing was stored.
  }
  const fits = (name: keyof Preferences): boolean => {
    const value = stored[name];
    if (typeof value !== typeof DEFAULTS[name]) return false;
    const choices = CHOICES[name] as readonly unknown[] | undefined;
    return choices === undefined || choices.includes(value);
  };
  return Object.fromEntries(
    (Object.keys(DEFAULTS) as (keyof Preferences)[]).map((name) => [
      name,
      fits(name) ? stored[name] : DEFAULTS[name],
    ]),
  ) as unknown as Preferences;
}

/** A browser may forbid its storage; the choices then last as long as the page. */
export function browserStore(storage: () => Storage): PreferencesStore {
  const load = (): Preferences => {
    try {
      return preferencesOf(storage().getItem(KEY));
    } catch {
      return DEFAULTS;
    }
  };
  let current = load();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  globalThis.addEventListener?.('storage', ({ key }: StorageEvent) => {
    if (key !== KEY) return;
    current = load();
    tell();
  });
  return {
    read: () => current,
    write(changes) {
      current = { ...current, ...changes };
      try {
        storage().setItem(KEY, JSON.stringify(current));
      } catch {
        // Forbidden or full.
      }
      tell();
    },
    subscribe(changed) {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
}
