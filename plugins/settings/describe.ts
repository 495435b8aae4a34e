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
import type { DeclaredSetting } from './contract.js';
import { clearOf, flagOf } from './secret-flags.js';
import type { SettingsStore } from './store.js';

/** Each setting as `update` takes it. */
export const declaredSettings = (
  store: Pick<SettingsStore, 'known' | 'names' | 'isGenerated'>,
): DeclaredSetting[] =>
  store.names().flatMap((name) => {
    const known = store.known(name);
    if (!known) return [];
    const { plugin, about, secret, initial } = known;
    const schema = known.schema.description(about);
    return {
      name,
      plugin,
      schema: secret ? schema.allow('') : schema,
      initial: secret || store.isGenerated(name) ? undefined : initial,
      ...(secret && { secret: { flag: flagOf(name), clear: clearOf(name) } }),
    };
  });

/** The reply of `all`, and a body of `update`. */
export function describeSettings(
  store: Pick<SettingsStore, 'known' | 'names' | 'isGenerated'>,
  keysBeside: readonly Readonly<Record<string, Schema>>[],
) {
  const all: Record<string, Schema> = {};
  const beside: Record<string, Schema> = Object.assign({}, ...keysBeside);
  const update: Record<string, Schema> = { ...beside };
  for (const { name, schema, secret } of declaredSettings(store)) {
    all[name] = schema;
    update[name] = optional(schema);
    if (!secret) continue;
    all[name] = text()
      .valid('')
      .description(`${store.known(name)?.about}; never shown`);
    all[secret.flag] = bool().description(`whether ${name} is set`);
    update[secret.clear] = optional(bool()).description(`true clears ${name}`);
  }
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
