// What the page remembers of one admin is not for the next one.
import type { Session } from './session.js';

/** Calls `forget` when the admin has left, or when another one is logged in instead. Returns what ends it. */
export function whenLeft(session: Pick<Session, 'person' | 'subscribe'>, forget: () => void): () => void {
  let person = session.person();
  return session.subscribe(() => {
    const before = person;
    person = session.person();
    if (person !== before) forget();
  });
}

const OURS = 'weir.';
/** Whose drafts the window has. */
const OWNER = 'weir.owner';

/**
 * Removes what another admin has left in the storage of the window, such as drafts; for a blank name, what anybody has.
 * @param before earlier name of the same admin
 */
export function claimStorage(storage: () => Storage, name: string, before = name): void {
  try {
    const own = storage();
    const owner = own.getItem(OWNER);
    const isOwn = name !== '' && (owner === name || owner === before);
    const keys = Array.from({ length: own.length }, (_, at) => own.key(at) ?? '');
    for (const key of keys) if (!isOwn && key.startsWith(OURS)) own.removeItem(key);
    if (name !== '') own.setItem(OWNER, name);
  } catch {
    // Forbidden: nothing is in it.
  }
}
