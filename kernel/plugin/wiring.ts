// Tokens and entries of lists that plugins provide to each other, collected while they are built in start order.
import type { Contributed, ExtensionPoint, Provision, Token } from '../container/token.js';
import type { PluginContext } from './define.js';
import { frozen } from '../../schema/frozen.js';
import type { PluginInstance } from './instance.js';
import { PluginError } from './error.js';

export class Wiring {
  readonly #provided: Map<string, Provision>;
  /** by extension point; an entry makes a new list, as plugins hold the previous one */
  readonly #added = new Map<string, readonly Contributed<unknown>[]>();
  readonly #tables = new Map<string, string>();

  /** `own` is provided by the kernel itself. */
  constructor(own: readonly Provision[]) {
    this.#provided = new Map(
      own.map((provision) => [`${provision.token.owner}/${provision.token.name}`, provision]),
    );
  }

  readonly contributions = <X>({ owner, name }: ExtensionPoint<X>): readonly Contributed<X>[] =>
    (this.#added.get(`${owner}/${name}`) ?? []) as readonly Contributed<X>[];

  build(instance: PluginInstance, context: PluginContext): void {
    const { plugin, name } = instance;
    for (const { name: table } of Object.values(plugin.tables)) {
      const other = this.#tables.get(table);
      if (other) throw new PluginError(`the table ${table} is declared by ${other} and by ${name}`);
      this.#tables.set(table, name);
    }
    instance.build(context, (wanted) => this.resolve(name, wanted));
    for (const { token, value } of plugin.provides(instance.scope)) {
      const id = `${token.owner}/${token.name}`;
      if (token.owner !== name)
        throw new PluginError(`plugin ${name} provides ${id}, a token of another plugin`);
      if (this.#provided.has(id)) throw new PluginError(`plugin ${name} provides ${id} twice`);
      this.#provided.set(id, { token, value: instance.facade(value) });
    }
  }

  /** Adds a plugin's entries to others' lists. Called when all are built, third-party plugins last: so they are never the first of a list, and cannot take a name from a built-in plugin. */
  extend(instance: PluginInstance): void {
    const { plugin, name } = instance;
    for (const { point, value } of plugin.contributes(instance.scope)) {
      const id = `${point.owner}/${point.name}`;
      const cannot = (why: string) => new PluginError(`plugin ${name} cannot add ${why}`);
      if (value === null || value === undefined) throw cannot(`${String(value)} to ${id}`);
      const others = this.contributions(point) as readonly Contributed<never>[];
      const problem = point.problem?.(value as never, plugin, others);
      if (problem) throw cannot(`to ${id}: ${problem}`);
      const fault = (where: string, error: unknown): void => instance.fault(where, error);
      this.#added.set(id, frozen([...others, { plugin: name, value: frozen(value), fault }]));
    }
  }

  /** The implementation provided for this token so far. */
  resolve(user: string, wanted: Token<unknown>): object | undefined {
    const found = this.#provided.get(`${wanted.owner}/${wanted.name}`);
    if (found && found.token.api !== wanted.api)
      throw new PluginError(
        `plugin ${user} was written for number ${wanted.api} of ${wanted.owner}/${wanted.name}, but ${wanted.owner} provides number ${found.token.api}; update the older of the two`,
      );
    return found?.value;
  }
}
