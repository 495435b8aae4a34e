// All routes of all plugins in one table: literal segments win over parameters, and two routes for one request are a mistake.
import Joi from 'joi';
import type { Adder } from '../container/token.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Route } from './route.js';
import { isPathPattern, moreSpecificFirst, shapeOfPath } from '../../net/path-router.js';

export interface Owned {
  readonly owner: Owner;
  readonly route: Route;
}
export interface Mounted extends Owned {
  readonly path: string;
}

const shapeOf = ({ path, route }: Pick<Mounted, 'route' | 'path'>): string =>
  `${route.method} ${shapeOfPath(path)}`;

/** Sorted by specificity; throws when two plugins (or one) declare the same request twice. */
export function sortRoutes(routes: readonly Owned[]): Mounted[] {
  const mounted = routes.map(({ owner, route }) => ({
    owner,
    route,
    path: typeof route.path === 'function' ? route.path() : route.path,
  }));
  mounted.sort((a, b) => moreSpecificFirst(a.path, b.path) || a.route.method.localeCompare(b.route.method));
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

/** Where everything of a plugin from outside is: what is built in stays free to use all other paths. */
export const ownPath = (plugin: string): string => `/panel/api/x/${plugin}/`;

export function strayPath({ name, outside }: Adder, path: string): string | undefined {
  const own = ownPath(name);
  return outside && !path.startsWith(own)
    ? `${path} is not below ${own}, where a plugin from outside serves`
    : undefined;
}

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Route['method'][];

/** What would break for all routes if this one were there. The compiler says the same to who asks it. */
export function routeProblem(route: Route, path: string): string | undefined {
  const { method, params, query, body, reply, handle } = route;
  if (!METHODS.includes(method)) return `its method must be one of ${METHODS.join(', ')}`;
  if (!isPathPattern(path))
    return 'its path must be of segments of letters, digits, - _ . ~ @, or of a {parameter} each; {rest*} may be the last';
  if (typeof handle !== 'function') return 'its handle must be a function';
  const schemas = Object.entries({
    params,
    query,
    body,
    reply: 'schema' in reply ? reply.schema : undefined,
  });
  const [wrong] = schemas.find(([, schema]) => schema !== undefined && !Joi.isSchema(schema)) ?? [];
  return wrong && `its ${wrong} must be a schema, such as shape({ … })`;
}
