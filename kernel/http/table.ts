// All routes of all plugins in one table: literal segments take precedence over parameters, and two routes for one request are a mistake.
import { extensionPoint } from '../container/token.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Route } from './route.js';
import { moreSpecificFirst, shapeOfPath } from '../../net/path-router.js';

export interface Owned {
  readonly owner: Owner;
  readonly route: Route;
}
export interface Mounted extends Owned {
  readonly path: string;
}

/** Returns what is served instead of these routes: routes with another handling, and routes of other names. `listeners.routes()` shows none of it. */
export type RouteAdapter = (routes: readonly Mounted[]) => readonly Owned[];
/** Called at each mount with the routes of the panel's listener, for programs that know other names and bodies. Only for built-in plugins: an adapter may change routes of others. */
export const RouteAdapters = extensionPoint<RouteAdapter>('kernel', 'RouteAdapters', (adapt, { outside }) =>
  typeof adapt === 'function' && !outside ? undefined : 'it must be a function, and of a built-in plugin',
);

const shapeOf = ({ path, route }: Pick<Mounted, 'route' | 'path'>): string =>
  `${route.method} ${shapeOfPath(path)}`;

/** Sorts by specificity; throws when the same request is declared twice. */
export function sortRoutes(routes: readonly Owned[]): Mounted[] {
  const mounted = routes.map(({ owner, route }) => ({
    owner,
    route,
    path: typeof route.path === 'function' ? route.path() : route.path,
  }));
  mounted.sort((a, b) => moreSpecificFirst(a.path, b.path) || (a.route.method < b.route.method ? -1 : 1));
  const seen = new Map<string, Mounted>();
  for (const entry of mounted) {
    const twin = seen.get(`${entry.route.listener} ${shapeOf(entry)}`);
    if (twin)
      throw new PluginError(
        `${shapeOf(entry)} is declared by ${twin.owner.name} (${twin.path}) and by ${entry.owner.name} (${entry.path})`,
      );
    seen.set(`${entry.route.listener} ${shapeOf(entry)}`, entry);
  }
  return mounted;
}

/** The path below which a third-party plugin serves everything, so that built-in plugins can use all other paths. */
export const ownPath = (plugin: string): string => `/panel/api/x/${plugin}/`;
/** The path of its pages. */
const pagesPath = (plugin: string): string => `/panel/x/${plugin}/`;
export const isOwnPath = (plugin: string, path: string): boolean =>
  path.startsWith(ownPath(plugin)) || path.startsWith(pagesPath(plugin));

export function strayPath(
  { name, outside }: Pick<Owner, 'name' | 'outside'>,
  path: string,
): string | undefined {
  return outside && !isOwnPath(name, path)
    ? `${path} is not below ${ownPath(name)} or ${pagesPath(name)}, the paths of a third-party plugin`
    : undefined;
}
