// The draft of the template for components, and the question of the browser before it is lost.
import { useEffect, useSyncExternalStore } from 'react';
import { changesOf, type DraftState } from './draft-store.js';
import { draft } from './queries.js';

export const useDraftState = (): DraftState | undefined => useSyncExternalStore(draft.subscribe, draft.state);

export function useLeaveQuestion(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      const state = draft.state();
      if (state && (draft.hasBroken || changesOf(state).length > 0)) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
}
