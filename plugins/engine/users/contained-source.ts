// Contains the errors of a source of users: they are attributed to its plugin, and other sources are not affected.
import { types } from 'node:util';
import { type Contributed, kernelErrors, messageOf, PanelError } from '../../../kernel/index.js';
import type { CoreUserSource } from '../contract.js';
import type { CoreUser } from '../driver.js';
import { isUserName } from './user-name.js';

const VALUES: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
/** Without a schema, for speed: called for every user at a start. */
function isUser(value: unknown): value is CoreUser {
  if (typeof value !== 'object' || value === null) return false;
  const { name, account } = value as Partial<Record<keyof CoreUser, unknown>>;
  if (typeof name !== 'string' || !isUserName(name)) return false;
  if (typeof account !== 'object' || account === null || !('protocol' in account)) return false;
  for (const key in account)
    if (!VALUES.has(typeof (account as Readonly<Record<string, unknown>>)[key])) return false;
  return typeof account.protocol === 'string';
}

/** Whether a plugin reads its data again; a proxy may throw when it is looked at. */
const isReading = (error: unknown): boolean =>
  types.isNativeError(error) && error instanceof PanelError && error.code === kernelErrors.PLUGIN_OFF.code;

/**
 * Leaves out users of a source that fails or returns something else; users of other sources stay. While a source reads
 * its data again, its users are unknown: the error passes on, and the core keeps the users it has.
 */
export function containedSource({ value: source, fault }: Contributed<CoreUserSource>): CoreUserSource {
  const reported = new Set<string>();
  /** Reports each failure once: there may be 100,000 users. */
  const fail = (error: unknown): void => {
    if (isReading(error)) throw error;
    const message = messageOf(error);
    if (reported.has(message) || reported.size > 100) return;
    reported.add(message);
    fault('a source of users of the core', error);
  };
  const noUser = () =>
    new Error(
      'it returned something that is not a valid user: { name: "i<inbound>.c<client>", account: { protocol, … } } of text, numbers and booleans',
    );
  return {
    user: (ref) => {
      try {
        const user: unknown = source.user(ref);
        if (user === undefined || isUser(user)) return user;
        fail(noUser());
      } catch (error) {
        fail(error);
      }
      return undefined;
    },
    *users(inboundId) {
      try {
        for (const user of source.users(inboundId) as Iterable<unknown>)
          if (isUser(user)) yield user;
          else fail(noUser());
      } catch (error) {
        fail(error);
      }
    },
  };
}
