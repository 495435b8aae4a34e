// The settings that plugins declare, each with what may set it besides an admin.
import {
  type Contributed,
  frozen,
  type Plugin,
  type PluginContext,
  type Setting,
  type SettingGroup,
} from '../../kernel/index.js';
import { type SettingGroupEntry, SettingGroups } from './contract.js';
import { groupProblem } from './group-problem.js';

export interface Definition extends Setting {
  readonly plugin: string;
  readonly group: SettingGroup;
  /** the environment variable that holds it */
  readonly variable: string | undefined;
  /** value in the environment */
  readonly pinned: unknown;
  /** value in the config file */
  readonly preset: unknown;
}

export class Definitions {
  readonly #contributions: PluginContext['contributions'];
  /** by definePlugin, in the order in which plugins are built */
  readonly #declared: Pick<Contributed<SettingGroupEntry>, 'plugin' | 'value'>[] = [];
  readonly #byName = new Map<string, Definition>();
  readonly #groups = new Set<SettingGroup>();

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  /** Whether `collect` was called: before that, nothing can be read. */
  get areComplete(): boolean {
    return this.#groups.size > 0;
  }
  get byName(): ReadonlyMap<string, Definition> {
    return this.#byName;
  }
  get groups(): ReadonlySet<SettingGroup> {
    return this.#groups;
  }

  /** Takes a group of definePlugin while its plugin is built. Throws a sentence if the group is not valid. */
  declare(plugin: Pick<Plugin, 'name' | 'outside'>, group: SettingGroup): void {
    const entry = { plugin: plugin.name, value: frozen({ group }) };
    const problem = groupProblem(entry.value, plugin, this.#declared);
    if (problem !== undefined) throw new Error(problem);
    this.#declared.push(entry);
  }

  /** Collects the groups of all plugins; call it when all are built. */
  collect(): void {
    if (this.areComplete) return;
    for (const { value, plugin } of this.#declared) this.#add(value, plugin);
    for (const { value, plugin, fault } of this.#contributions(SettingGroups)) {
      const twice = Object.keys(value.group).find((name) => this.#byName.has(name));
      if (twice === undefined) this.#add(value, plugin);
      else fault('settings', new Error(`the setting ${twice} already exists; choose another name`));
    }
  }

  #add({ group, pinned = {}, defaults = {} }: SettingGroupEntry, plugin: string): void {
    this.#groups.add(group);
    for (const [name, setting] of Object.entries(group))
      this.#byName.set(name, {
        ...setting,
        plugin,
        group,
        variable: pinned[name]?.variable,
        pinned: pinned[name]?.value,
        preset: defaults[name],
      });
  }
}
