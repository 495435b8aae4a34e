// What shows many clients follows their changes, at most every two seconds.
import { live } from './live.js';
import { GAP } from './live-stream.js';

const PAUSE_MS = 2_000;

/** Calls `run` some time after the panel says that clients have changed. Returns what ends it. */
export function onClientsChange(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, PAUSE_MS);
  };
  const ends = [
    live.on(GAP, soon),
    live.on('invalidate', (messages) => {
      if (messages.some((message) => (message as { type: string }).type === 'clients')) soon();
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}
