// Commands, routes and jobs of plugins, added plugin by plugin. A failure to add them is attributed to the plugin.
import { checkCommands, type OwnedCommand } from '../command/list.js';
import type { ListenerSet } from '../http/listeners.js';
import type { Owned } from '../http/table.js';
import type { Schedule } from '../jobs/schedule.js';
import type { Permits } from '../http/permits.js';
import type { Replays } from '../http/replays.js';
import type { Route } from '../http/route.js';
import { attributeErrors } from './error.js';
import type { PluginInstance } from './instance.js';

export class Registrations {
  readonly #listeners: ListenerSet;
  readonly #schedule: Schedule;
  #routes: readonly Owned[];
  /** stores replies for repeated calls, if a plugin does */
  replays: Replays | undefined;
  /** says who may call a route, if a plugin does */
  permits: Permits | undefined;
  /** of all plugins, for the command line */
  commands: readonly OwnedCommand[] = [];

  /** `routes` are the kernel's own. */
  constructor(listeners: ListenerSet, schedule: Schedule, routes: readonly Owned[]) {
    this.#listeners = listeners;
    this.#schedule = schedule;
    this.#routes = routes;
    listeners.check(routes);
  }

  addCommands(owner: PluginInstance): void {
    attributeErrors(owner.plugin, 'cannot offer its commands', () => {
      const own = owner.plugin.commands(owner.scope).map((command) => ({ ...command, owner }));
      this.commands = checkCommands([...this.commands, ...own]);
    });
  }

  addRoutes(owner: PluginInstance): void {
    attributeErrors(owner.plugin, 'cannot serve its routes', () => {
      const own = owner.plugin
        .routes(owner.scope)
        .map((route) => ({ owner, route: this.#served(owner, route) }));
      this.#listeners.check(own);
      this.#routes = [...this.#routes, ...own];
    });
  }

  #served({ name }: PluginInstance, declared: Route): Route {
    const route = { ...declared, permit: this.permits?.of(name, declared) };
    return route.idempotent && this.replays ? this.replays.repeatable(route) : route;
  }

  addJobs(owner: PluginInstance): void {
    attributeErrors(owner.plugin, 'cannot run its jobs', () => {
      this.#schedule.add(owner, owner.plugin.jobs(owner.scope));
    });
  }

  /** Serves all routes that were added, and opens the declared listeners; with `owner` only those of that plugin. */
  async serve(owner?: PluginInstance): Promise<void> {
    this.#listeners.mount(this.#routes);
    const own = this.#routes.filter((owned) => owned.owner === owner).map(({ route }) => route.listener);
    await this.#listeners.listen(owner && new Set(own));
  }

  /** Removes everything that a plugin has added. */
  drop(owner: PluginInstance): void {
    this.commands = this.commands.filter((command) => command.owner !== owner);
    this.#routes = this.#routes.filter((owned) => owned.owner !== owner);
    this.#schedule.drop(owner);
    this.#listeners.mount(this.#routes);
  }
}
