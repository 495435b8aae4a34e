// The core's names of users: `i<inboundId>.c<clientId>`.
import { TimeSlice } from '../../../kernel/index.js';
import type { UserRef } from '../contract.js';
import type { UserCounter } from '../driver.js';

/** All names of users begin with it. */
export const USER_PREFIX = 'i';

/** The core's own name of a user: one attachment of a client to an inbound, so a renamed client keeps its counter, and no other client inherits the counter of a deleted one. */
export const userName = ({ inboundId, clientId }: UserRef): string =>
  `${USER_PREFIX}${inboundId}.c${clientId}`;
export const isUserName = (name: string): boolean => userOf(name) !== undefined;
export const userOf = (name: string): UserRef | undefined => {
  const dot = name.indexOf('.c');
  const [inboundId, clientId] = [numberAt(name, 1, dot), numberAt(name, dot + 2, name.length)];
  return !name.startsWith(USER_PREFIX) || inboundId === undefined || clientId === undefined
    ? undefined
    : { inboundId, clientId };
};

/** Digit by digit: a poll reads 100,000 names, and a regular expression takes four times as long. */
function numberAt(text: string, from: number, to: number): number | undefined {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return to > from ? number : undefined;
}

/** Returns the counters of users, without others that the core has. */
export async function countersOfUsers(counters: readonly UserCounter[]) {
  const users: (UserRef & Pick<UserCounter, 'up' | 'down'>)[] = [];
  const slice = new TimeSlice();
  for (const { name, up, down } of counters) {
    if (slice.isOver) await slice.next();
    const ref = userOf(name);
    if (ref) users.push({ inboundId: ref.inboundId, clientId: ref.clientId, up, down });
  }
  return users;
}
