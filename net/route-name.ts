// The name of a route in clients: `clients.list` is `weir.clients.list()` in the generated client.

const NAME = /^[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*){1,2}$/;
/** `a.b` matches itself and `a.b.c`. */
const holds = (group: string, name: string): boolean =>
  name.startsWith(group) && (name.length === group.length || name[group.length] === '.');

/** `my-plugin` as the first word of a name: `myPlugin`. */
export const areaOf = (plugin: string): string =>
  plugin.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_, next: string) => next.toUpperCase());

interface Named {
  readonly owner: { readonly name: string; readonly outside?: boolean };
  readonly path: string;
  readonly route: { readonly method: string; readonly name?: string };
}

/** Returns why the name of this route conflicts with an existing route. */
export function nameProblem({ owner, route: { name } }: Named, others: readonly Named[]): string | undefined {
  if (name === undefined) return undefined;
  const area = areaOf(owner.name);
  if (!NAME.test(name))
    return `its name must be two or three words with dots between, such as ${area}.list, not ${String(name).slice(0, 80)}`;
  if (owner.outside && !holds(area, name))
    return `its name ${name} must begin with ${area}., because the routes of a third-party plugin begin with its name`;
  const twin = others.find(({ route: { name: other = '' } }) => holds(other, name) || holds(name, other));
  return (
    twin &&
    `its name ${name} is taken: ${twin.owner.name} has ${twin.route.name} (${twin.route.method} ${twin.path}); choose another`
  );
}
