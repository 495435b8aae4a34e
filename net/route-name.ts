// The name of a route in clients: `clients.list` is `weir.clients.list()` in the generated client.

const NAME = /^[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*){1,2}$/;
/** `my-plugin` as the first word of a name: `myPlugin`. */
export const areaOf = (plugin: string): string =>
  plugin.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, next: string) => next.toUpperCase());

interface Named {
  readonly owner: { readonly name: string; readonly outside?: boolean };
  readonly path: string;
  readonly route: { readonly method: string; readonly name?: string };
}

/** The names of a table of routes, taken one after another. */
export class RouteNames {
  readonly #taken = new Map<string, Named>();
  /** a route of each group: `a.b` where `a.b.c` is taken */
  readonly #groups = new Map<string, Named>();

  /** Takes the name of this route, or returns why it conflicts with an existing route. */
  take(named: Named): string | undefined {
    const { owner } = named;
    const { name } = named.route;
    if (name === undefined) return undefined;
    const area = areaOf(owner.name);
    if (!NAME.test(name))
      return `its name must be two or three words with dots between, such as ${area}.list, not ${String(name).slice(0, 80)}`;
    if (owner.outside && !name.startsWith(`${area}.`))
      return `its name ${name} must begin with ${area}., because the routes of a third-party plugin begin with its name`;
    const group = name.split('.').slice(0, 2).join('.');
    const twin = this.#taken.get(name) ?? this.#taken.get(group) ?? this.#groups.get(name);
    if (twin)
      return `its name ${name} is taken: ${twin.owner.name} has ${twin.route.name} (${twin.route.method} ${twin.path}); choose another`;
    this.#taken.set(name, named);
    this.#groups.set(group, named);
    return undefined;
  }
}
