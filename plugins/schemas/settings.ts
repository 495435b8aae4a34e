// The settings of all plugins, as forms need them.
import { optional, type PluginsApi, type Schema, shape } from '../../kernel/index.js';
import type { JsonSchema } from '../api-docs/contract.js';
import type { DeclaredSetting, DeclaredSettingsApi } from '../settings/contract.js';
import type { FormDescriber } from './form-describer.js';

function withValue(described: JsonSchema, { initial, secret }: DeclaredSetting): JsonSchema {
  return {
    ...described,
    ...(initial !== undefined && { default: initial }),
    ...(secret && { writeOnly: true }),
    // In force at once, unless its plugin says otherwise.
    'x-weir': {
      change: 'none',
      ...(described['x-weir'] as object),
      ...(secret && { secret: true, ...secret }),
    },
  };
}

export function settingSchemas(
  declared: DeclaredSettingsApi,
  plugins: Pick<PluginsApi, 'list'>,
  describer: FormDescriber,
) {
  const byPlugin = new Map<string, DeclaredSetting[]>();
  for (const setting of declared.list())
    byPlugin.set(setting.plugin, [...(byPlugin.get(setting.plugin) ?? []), setting]);
  const about = new Map(plugins.list().map((plugin) => [plugin.name, plugin.about]));
  return {
    plugins: [...byPlugin]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, settings]) => {
        const fields: Record<string, Schema> = Object.fromEntries(
          settings.map((setting) => [setting.name, optional(setting.schema)]),
        );
        const described = describer.document(shape(fields), `settings of ${name}`);
        const { properties = {} } = described as { properties?: Readonly<Record<string, JsonSchema>> };
        return {
          name,
          about: about.get(name) ?? '',
          settings: {
            ...described,
            properties: Object.fromEntries(
              settings.map((setting) => [setting.name, withValue(properties[setting.name] ?? {}, setting)]),
            ),
          },
        };
      }),
  };
}
