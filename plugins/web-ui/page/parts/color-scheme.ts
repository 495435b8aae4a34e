// Whether the page is dark now.
import { useSyncExternalStore } from 'react';
import type { Preferences } from '../preferences/preferences.js';

const dark = matchMedia('(prefers-color-scheme: dark)');
const subscribe = (changed: () => void): (() => void) => {
  dark.addEventListener('change', changed);
  return () => dark.removeEventListener('change', changed);
};

export function useColorScheme(theme: Preferences['theme']): 'light' | 'dark' {
  const isDark = useSyncExternalStore(subscribe, () => dark.matches);
  if (theme !== 'system') return theme;
  return isDark ? 'dark' : 'light';
}
