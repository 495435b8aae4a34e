// The draft of the template for components.
import { useSyncExternalStore } from 'react';
import type { DraftState } from './draft-store.js';
import { draft } from './queries.js';

export const useDraftState = (): DraftState | undefined => useSyncExternalStore(draft.subscribe, draft.state);
