// What a reader may choose about the page, and what of a stored text is such a choice.

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
  /** columns of the list of clients, with commas between them; blank: the usual ones */
  readonly clientColumns: string;
}

export const DEFAULTS: Preferences = {
  language: '',
  theme: 'system',
  units: 'binary',
  timeZone: '',
  calendar: '',
  singleKeys: true,
  clientColumns: '',
};

export interface PreferencesStore {
  read(): Preferences;
  write(changes: Partial<Preferences>): void;
  /** Calls `changed` after each change, also of another window; returns what ends it. */
  subscribe(changed: () => void): () => void;
}

const CHOICES: { readonly [K in keyof Preferences]?: readonly Preferences[K][] } = {
  theme: ['system', 'light', 'dark'],
  units: ['binary', 'decimal'],
  calendar: ['', 'gregory', 'persian'],
};

/** Values that are preferences: what is of another version, or edited, is left out. */
export function chosenIn(values: unknown): Partial<Preferences> {
  if (typeof values !== 'object' || values === null) return {};
  const stored = values as Readonly<Record<string, unknown>>;
  const fits = (name: keyof Preferences): boolean => {
    const value = stored[name];
    if (!Object.hasOwn(stored, name) || typeof value !== typeof DEFAULTS[name]) return false;
    const choices = CHOICES[name] as readonly unknown[] | undefined;
    return choices === undefined || choices.includes(value);
  };
  const names = (Object.keys(DEFAULTS) as (keyof Preferences)[]).filter(fits);
  return Object.fromEntries(names.map((name) => [name, stored[name]]));
}

/** The preferences in a stored text; the usual ones where it does not say. */
export function preferencesOf(text: string | null): Preferences {
  try {
    return { ...DEFAULTS, ...chosenIn(JSON.parse(text ?? '{}')) };
  } catch {
    // Not JSON: as if nothing was stored.
    return DEFAULTS;
  }
}
