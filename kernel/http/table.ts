// All routes of all plugins in one table: literal segments take precedence over parameters, and two routes for one request are a mistake.
import { extensionPoint } from '../container/token.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Route } from './route.js';
import { shapeOfPath, specificityOf } from '../../net/path-router.js';
import { RouteNames } from '../../net/route-name.js';

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

/** Routes for one set of listeners, added one by one. */
export class RouteTable {
  /** by a text that sorts them by specificity */
  readonly #routes = new Map<string, Mounted>();
  readonly names = new RouteNames();

  constructor(routes: readonly Owned[] = []) {
    for (const owned of routes) this.add(owned);
  }

  /** Throws when the same request is declared twice. */
  add({ owner, route }: Owned): Mounted {
    const path = typeof route.path === 'function' ? route.path() : route.path;
    const shape = shapeOfPath(path);
    const key = [specificityOf(shape), route.method, route.listener].join('\0');
    const twin = this.#routes.get(key);
    if (twin)
      throw new PluginError(
        `${route.method} ${shape} is declared by ${twin.owner.name} (${twin.path}) and by ${owner.name} (${path})`,
      );
    const mounted = { owner, route, path };
    this.#routes.set(key, mounted);
    return mounted;
  }

  /** The most specific first. */
  sorted(): Mounted[] {
    return [...this.#routes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, mounted]) => mounted);
  }
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
    ? `${path} is not below ${ownPath(name)} or ${pagesPath(name)}, the paths of a third-party plugin; move it there`
    : undefined;
}
