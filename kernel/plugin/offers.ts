// What plugins offer to the world outside: commands, routes and jobs, added plugin by plugin.
import { checkCommands, type OwnedCommand } from '../command/list.js';
import type { ListenerSet } from '../http/listeners.js';
import type { Owned } from '../http/table.js';
import type { Schedule } from '../jobs/schedule.js';
import type { PluginInstance } from './instance.js';

export class Offers {
  readonly #listeners: ListenerSet;
  readonly #schedule: Schedule;
  #routes: readonly Owned[];
  /** of all plugins, for the command line */
  commands: readonly OwnedCommand[] = [];

  /** `routes` are the kernel's own. */
  constructor(listeners: ListenerSet, schedule: Schedule, routes: readonly Owned[]) {
    this.#listeners = listeners;
    this.#schedule = schedule;
    this.#routes = routes;
  }

  addCommands(owner: PluginInstance): void {
    const own = owner.plugin.commands(owner.scope).map((command) => ({ ...command, owner }));
    this.commands = checkCommands([...this.commands, ...own]);
  }

  addRoutes(owner: PluginInstance): void {
    const own = owner.plugin.routes(owner.scope).map((route) => ({ owner, route }));
    const routes = [...this.#routes, ...own];
    this.#listeners.check(routes);
    this.#routes = routes;
  }

  addJobs(owner: PluginInstance): void {
    for (const job of owner.plugin.jobs(owner.scope)) this.#schedule.start(owner, job);
  }

  /** Serves all routes that were added, on all listeners that were declared. */
  async serve(): Promise<void> {
    this.#listeners.mount(this.#routes);
    await this.#listeners.listen();
  }
}
