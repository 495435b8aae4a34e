// The live stream while a page for admins is shown.
import { useEffect, useSyncExternalStore } from 'react';
import { session } from '../api/panel.js';
import { live } from './live.js';
import type { LiveState } from './live-stream.js';

export const useLiveState = (): LiveState => useSyncExternalStore(live.watch, live.state);

/** Connects while there is a session and the panel has the stream. */
export function useLive(isOffered: boolean): void {
  const { kind } = useSyncExternalStore(session.subscribe, session.state);
  const isWanted = isOffered && kind === 'in';
  useEffect(() => {
    if (!isWanted) return undefined;
    live.start();
    return () => live.stop();
  }, [isWanted]);
}
