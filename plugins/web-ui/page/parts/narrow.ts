// Whether the page is as narrow as a phone.
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 719px)');
const subscribe = (changed: () => void): (() => void) => {
  narrow.addEventListener('change', changed);
  return () => narrow.removeEventListener('change', changed);
};

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
