// What the API says of settings, whichever plugins declare them.
import {
  bool,
  custom,
  describedAs,
  mapOf,
  openObject,
  optional,
  type Schema,
  shape,
  word,
  text,
} from '../../kernel/index.js';
import { clearOf, flagOf } from './secrets.js';
import type { SettingsStore } from './store.js';

/** The reply of `all`, and a body of `update`. */
export function describeSettings(store: Pick<SettingsStore, 'known' | 'names'>) {
  const all: Record<string, Schema> = {};
  const update: Record<string, Schema> = {};
  for (const name of store.names()) {
    const known = store.known(name);
    if (!known) continue;
    const { about, secret } = known;
    const schema = known.schema.description(about);
    all[name] = secret ? text().valid('').description(`${about}; never shown`) : schema;
    update[name] = optional(secret ? schema.allow('') : schema);
    if (!secret) continue;
    all[flagOf(name)] = bool().description(`whether ${name} is set`);
    update[clearOf(name)] = optional(bool()).description(`true takes ${name} away`);
  }
  all['pinned'] = mapOf(word()).description('settings that the environment holds, each with its variable');
  // The service looks at what is sent by itself, for a blank secret means "as it is".
  return {
    all: custom<Record<string, unknown>>(shape(all)),
    update: describedAs(
      openObject(),
      shape(update).example({ sessionMaxAge: 720, sessionMaxLifetime: 43_200 }),
    ),
  };
}
