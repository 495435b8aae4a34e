// The core's names of users: `i<inboundId>.c<clientId>`.
import type { UserRef } from './contract.js';
import type { UserCounter } from './driver.js';

/** All names of users begin with it. */
export const USER_PREFIX = 'i';
const NAME = new RegExp(`^${USER_PREFIX}(\\d+)\\.c(\\d+)$`);

/** The core's own name of a user: one attachment of a client to an inbound, so a renamed client keeps its counter, and no other client inherits the counter of a deleted one. */
export const userName = ({ inboundId, clientId }: UserRef): string =>
  `${USER_PREFIX}${inboundId}.c${clientId}`;
export const isUserName = (name: string): boolean => NAME.test(name);
export const userOf = (name: string): UserRef | undefined => {
  const [, inboundId, clientId] = NAME.exec(name) ?? [];
  return inboundId === undefined ? undefined : { inboundId: Number(inboundId), clientId: Number(clientId) };
};

/** Returns the counters of users, without others that the core has. */
export const countersOfUsers = (counters: readonly UserCounter[]) =>
  counters.flatMap(({ name, up, down }) => {
    const ref = userOf(name);
    return ref ? [{ ...ref, up, down }] : [];
  });
