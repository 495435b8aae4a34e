// What the page remembers of one admin is not for the next one.
import { nameIn, type Session } from './session.js';

/** Calls `forget` when the admin has left, or when another one is logged in instead. Returns what ends it. */
export function whenLeft(session: Pick<Session, 'state' | 'subscribe'>, forget: () => void): () => void {
  let name = nameIn(session.state());
  return session.subscribe(() => {
    const before = name;
    name = nameIn(session.state());
    if (before !== '' && name !== before) forget();
  });
}

const OURS = 'weir.';
/** Whose drafts the window has. */
const OWNER = 'weir.owner';

/** Removes what another admin has left in the storage of the window, such as drafts; for a blank name, what anybody has. */
export function claimStorage(storage: () => Storage, name: string): void {
  try {
    const own = storage();
    if (name !== '' && own.getItem(OWNER) === name) return;
    const keys = Array.from({ length: own.length }, (_, at) => own.key(at) ?? '');
    for (const key of keys) if (key.startsWith(OURS)) own.removeItem(key);
    if (name !== '') own.setItem(OWNER, name);
  } catch {
    // Forbidden: nothing is in it.
  }
}
