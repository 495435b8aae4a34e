// Describes the settings of all plugins, for the API.
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
import { version } from '../record-versions/contract.js';
import { clearOf, flagOf } from './secret-flags.js';
import type { SettingsStore } from './store.js';

/** The reply of `all`, and a body of `update`. */
export function describeSettings(
  store: Pick<SettingsStore, 'known' | 'names'>,
  keysBeside: readonly Readonly<Record<string, Schema>>[],
) {
  const all: Record<string, Schema> = {};
  const beside: Record<string, Schema> = Object.assign({}, ...keysBeside);
  const update: Record<string, Schema> = { ...beside };
  for (const name of store.names()) {
    const known = store.known(name);
    if (!known) continue;
    const { about, secret } = known;
    const schema = known.schema.description(about);
    all[name] = secret ? text().valid('').description(`${about}; never shown`) : schema;
    update[name] = optional(secret ? schema.allow('') : schema);
    if (!secret) continue;
    all[flagOf(name)] = bool().description(`whether ${name} is set`);
    update[clearOf(name)] = optional(bool()).description(`true clears ${name}`);
  }
  all['version'] = version();
  all['pinned'] = mapOf(word()).description('settings that the environment sets, each with its variable');
  // The service checks the settings of a body itself, because a blank secret means "unchanged".
  return {
    all: custom<Record<string, unknown>>(shape(all)),
    update: describedAs(
      custom<Record<string, unknown>>(openObject().keys(beside)),
      shape(update).example({ sessionMaxAge: 720, sessionMaxLifetime: 43_200 }),
    ),
  };
}
