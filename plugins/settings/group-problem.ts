// Checks a group of settings when a plugin adds it.
import {
  type Contributed,
  inspect,
  messageOf,
  type Plugin,
  type Setting,
  sentenceOf,
} from '../../kernel/index.js';
import type { SettingGroupEntry } from './contract.js';

/** A new panel must be able to start with the initial value. */
function valueProblem(name: string, { schema, initial, about }: Setting): string | undefined {
  try {
    const result = inspect(
      schema.label(name),
      typeof initial === 'function' ? (initial as () => unknown)() : initial,
    );
    if ('issues' in result) return `its initial value does not fit: ${sentenceOf(result.issues)}`;
    return typeof about === 'string' && about !== '' ? undefined : 'its about must say what it is for';
  } catch (error) {
    return `it is not made with setting(schema, initial, about): ${messageOf(error)}`;
  }
}

export function groupProblem(
  { group, defaults = {}, pinned = {} }: SettingGroupEntry,
  { name: plugin, outside }: Pick<Plugin, 'name' | 'outside'>,
  others: readonly Pick<Contributed<SettingGroupEntry>, 'plugin' | 'value'>[],
): string | undefined {
  const foreign = outside ? Object.keys(group).filter((key) => !key.startsWith(`${plugin}.`)) : [];
  if (foreign.length > 0)
    return `the setting ${foreign.join(', ')} must be called ${plugin}.…, because a third-party plugin can only use names with its own prefix`;
  for (const [name, declared] of Object.entries(group)) {
    const other = others.find(({ value }) => Object.hasOwn(value.group, name));
    if (other) return `the setting ${name} already exists, in plugin ${other.plugin}; choose another name`;
    const problem = valueProblem(name, declared);
    if (problem !== undefined) return `the setting ${name} is of no use: ${problem}`;
    // Values of built-in plugins come from variables, which are already checked.
    const given = outside ? [defaults[name], pinned[name]?.value].filter((value) => value !== undefined) : [];
    for (const value of given) {
      const result = inspect(declared.schema.label(name), value);
      if ('issues' in result)
        return `a value for the setting ${name} does not fit: ${sentenceOf(result.issues)}`;
    }
  }
  return undefined;
}
