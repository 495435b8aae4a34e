// What was typed into a form and not saved, for as long as the window lives. Never secrets.
import { useEffect, useRef, useState } from 'react';

const PREFIX = 'weir.draft.';

function read<T>(key: string): T | undefined {
  try {
    const text = sessionStorage.getItem(PREFIX + key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Forbidden or full: the draft lasts as long as the form.
  }
}

export interface Draft<T> {
  readonly value: T;
  readonly set: (value: T) => void;
  readonly discard: () => void;
  /** it comes from an earlier visit of the form */
  readonly isRestored: boolean;
}

/** `initial` must have the same fields as what was stored; a draft of another version is ignored. */
export function useDraft<T extends object>(key: string, initial: T): Draft<T> {
  const [{ value, isRestored }, setState] = useState(() => {
    const stored = read<T>(key);
    const fits = stored !== undefined && Object.keys(initial).every((name) => Object.hasOwn(stored, name));
    return fits ? { value: stored, isRestored: true } : { value: initial, isRestored: false };
  });
  const isDiscarded = useRef(false);
  useEffect(() => {
    const isChanged = JSON.stringify(value) !== JSON.stringify(initial);
    write(key, isChanged && !isDiscarded.current ? value : undefined);
  }, [key, value, initial]);
  return {
    value,
    isRestored,
    set: (next) => setState((now) => ({ ...now, value: next })),
    discard: () => {
      isDiscarded.current = true;
      write(key, undefined);
    },
  };
}
