// Compares the users that programs beside the core have with those that they should have.
import { messageOf, TimeSlice } from '../../kernel/index.js';
import type { Findings, Invariant } from '../invariants/contract.js';
import type { ListedUser, SidecarUser } from './contract.js';

const TRIES = 3;
const MOST_USERS = 1_000_000;
const LONGEST_NAME = 100;

/** Returns a sentence for each user that is missing, too many or other than expected. Rejects where `listed` is not a list of users. */
export async function differences(
  expected: readonly SidecarUser[],
  listed: readonly ListedUser[],
): Promise<string[]> {
  if (!Array.isArray(listed) || listed.length > MOST_USERS)
    throw new Error(`its users are not a list of at most ${MOST_USERS}`);
  const slice = new TimeSlice();
  const left = new Map<string, SidecarUser>();
  for (const user of expected) {
    if (slice.isOver) await slice.next();
    left.set(user.name, user);
  }
  const found: string[] = [];
  for (const { name, account = {} } of listed as readonly ListedUser[]) {
    if (slice.isOver) await slice.next();
    const user = left.get(name);
    const shown = String(name).slice(0, LONGEST_NAME);
    if (!user) found.push(`user ${shown} is in the program, and must not be`);
    else if (Object.entries(account).some(([field, value]) => user.account[field] !== value))
      found.push(`user ${shown} has another account in the program`);
    left.delete(name);
  }
  for (const name of left.keys()) found.push(`user ${name} is not in the program`);
  return found;
}

/** A process whose users can be compared. */
export interface Compared {
  readonly title: string;
  /** undefined where it does not tell, or does not serve */
  differences(): Promise<readonly string[] | undefined>;
}

async function compare(
  instances: readonly Compared[],
  { add, pause }: Findings,
): Promise<string | undefined> {
  let skipped: string | undefined;
  for (const instance of instances) {
    await pause();
    try {
      const found = await lasting(instance);
      if (found) for (const sentence of found) add(`${instance.title}: ${sentence}`);
      else skipped ??= `${instance.title} does not tell its users now`;
    } catch (error) {
      skipped ??= `${instance.title}: ${messageOf(error)}`;
    }
  }
  return skipped;
}

/** What differs each time: an edit may be on its way. */
async function lasting(instance: Compared): Promise<readonly string[] | undefined> {
  let found = await instance.differences();
  for (let i = 1; i < TRIES && found && found.length > 0; i++) {
    const again = new Set(await instance.differences());
    found = found.filter((sentence) => again.has(sentence));
  }
  return found;
}

export const programsHaveUsers = (instances: () => readonly Compared[]): Invariant => ({
  name: 'programs beside the core have the users of the database',
  fix: 'wait ten seconds, as the panel retries by itself; then disable the inbound and enable it again',
  check: (findings) => compare(instances(), findings),
});
