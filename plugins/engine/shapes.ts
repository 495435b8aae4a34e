// Checks what plugins add to the core: parts of its config, and users.
import { types } from 'node:util';
import Joi from 'joi';
import {
  custom,
  type Contributed,
  int,
  jsonRecord,
  kernelErrors,
  messageOf,
  optional,
  PanelError,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import type { CorePart, CoreUserSource } from './contract.js';
import type { CoreUser, JsonObject } from './driver.js';

/** Checks only what the panel itself relies on; the core checks the rest. */
export const partShape = custom<CorePart>(
  shape({
    inbound: optional(
      shape({
        id: int().min(1),
        tag: word(),
        protocol: word(),
        config: jsonRecord<JsonObject>(),
        accounts: optional(text()),
      }),
    ),
    outbound: optional(jsonRecord<JsonObject>()),
    rule: optional(jsonRecord<JsonObject>()),
    nameServer: optional(custom<string | JsonObject>(Joi.alternatives(word(), jsonRecord<JsonObject>()))),
  }).xor('inbound', 'outbound', 'rule', 'nameServer'),
);

const VALUES: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
/** Without a schema, for speed: called for every user at a start. */
function isUser(value: unknown): value is CoreUser {
  if (typeof value !== 'object' || value === null) return false;
  const { name, account } = value as Partial<Record<keyof CoreUser, unknown>>;
  if (typeof name !== 'string' || !/^i\d+\.c\d+$/.test(name)) return false;
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
  const said = new Set<string>();
  /** Reports each failure once: there may be 100,000 users. */
  const fail = (error: unknown): void => {
    if (isReading(error)) throw error;
    const message = messageOf(error);
    if (said.has(message) || said.size > 100) return;
    said.add(message);
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
