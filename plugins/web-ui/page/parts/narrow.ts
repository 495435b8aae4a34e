// How wide the page is: as narrow as a phone, or too narrow for all columns of a table.
import { useSyncExternalStore } from 'react';

function whether(query: string): () => boolean {
  const media = matchMedia(query);
  const subscribe = (changed: () => void): (() => void) => {
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  };
  return () => useSyncExternalStore(subscribe, () => media.matches);
}

export const useIsNarrow = whether('(max-width: 719px)');
export const useIsMedium = whether('(max-width: 1199px)');
