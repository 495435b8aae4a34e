// All routes of all plugins in one table: literal segments win over parameters, and two routes for one request are a mistake.
import Joi from 'joi';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Route } from './route.js';

export interface Owned {
  readonly owner: Owner;
  readonly route: Route;
}
export interface Mounted extends Owned {
  readonly path: string;
}

const isParameter = (segment: string): boolean => segment.startsWith('{');
const shapeOf = ({ path, route }: Pick<Mounted, 'route' | 'path'>): string =>
  `${route.method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;

/** Segment by segment: nothing, then literals by their text, then parameters. A total order, or sorting could leave a parameter before its literal. */
function moreSpecificFirst(a: Mounted, b: Mounted): number {
  const left = a.path.split('/');
  const right = b.path.split('/');
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [one, other] = [left[i], right[i]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (isParameter(one) && isParameter(other)) continue;
    const difference = Number(isParameter(one)) - Number(isParameter(other)) || one.localeCompare(other);
    if (difference !== 0) return difference;
  }
  return a.route.method.localeCompare(b.route.method);
}

/** Sorted by specificity; throws when two plugins (or one) declare the same request twice. */
export function sortRoutes(routes: readonly Owned[]): Mounted[] {
  const mounted = routes.map(({ owner, route }) => ({
    owner,
    route,
    path: typeof route.path === 'function' ? route.path() : route.path,
  }));
  mounted.sort(moreSpecificFirst);
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

export function strayPath(
  { name, outside }: Pick<Owner, 'name' | 'outside'>,
  path: string,
): string | undefined {
  const own = ownPath(name);
  return outside && !path.startsWith(own)
    ? `${path} is not below ${own}, where a plugin from outside serves`
    : undefined;
}

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Route['method'][];
/** What the router takes literally, and parameters. */
const SERVABLE = /^(?:\/(?:\{\w+\}|[\w.~@%-])*)+$/;

/** What would break for all routes if this one were there. The compiler says the same to who asks it. */
export function routeProblem(route: Route, path: string): string | undefined {
  const { method, params, query, body, reply, handle } = route;
  if (!METHODS.includes(method)) return `its method must be one of ${METHODS.join(', ')}`;
  if (!SERVABLE.test(path))
    return 'its path must be of segments of letters, digits, - _ . ~ @ % and {parameters}';
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

/** What a path is made of where nothing about it is in doubt. */
const PLAIN_PATH = /^[\w\-./~@+%!$&'()*,;=:]+$/;

/** A route and the texts of its parameters. */
export interface Found<T> {
  readonly target: T;
  readonly params: Record<string, string>;
}

/**
 * Finds the route of a request by a few lookups, whatever the number of routes: Express tries one pattern after the
 * other (measured with 90 routes: a third of a short call). Says nothing where it is not sure, and then Express decides.
 */
export class PathIndex<T> {
  /** by method and path, with `{}` in place of parameters */
  readonly #routes = new Map<string, { readonly target: T; readonly names: readonly string[] }>();
  /** by number of segments: where parameters stand, the earliest literals first, as routes are sorted */
  readonly #masks = new Map<number, boolean[][]>();

  add(mounted: Pick<Mounted, 'route' | 'path'>, target: T): void {
    const segments = mounted.path.split('/');
    // A parameter that is only a part of its segment is left to Express.
    if (segments.some((segment) => segment.includes('{') && !/^\{[^{}]+\}$/.test(segment))) return;
    const names = segments.filter(isParameter).map((segment) => segment.slice(1, -1));
    this.#routes.set(shapeOf(mounted), { target, names });
    const mask = segments.map(isParameter);
    const known = this.#masks.get(segments.length) ?? [];
    if (!known.some((other) => other.join() === mask.join())) known.push(mask);
    this.#masks.set(
      segments.length,
      known.sort((a, b) => (a.map(Number).join('') < b.map(Number).join('') ? -1 : 1)),
    );
  }

  find(method: string, url: string): Found<T> | undefined {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (!PLAIN_PATH.test(path)) return undefined;
    const literal = this.#routes.get(`${method} ${path}`);
    if (literal) return { target: literal.target, params: {} };
    const segments = path.split('/');
    for (const mask of this.#masks.get(segments.length) ?? []) {
      const values: string[] = [];
      let key = method;
      for (const [i, segment] of segments.entries()) {
        key += `${i === 0 ? ' ' : '/'}${mask[i] ? '{}' : segment}`;
        if (mask[i]) values.push(segment);
      }
      const route = this.#routes.get(key);
      if (!route || values.includes('')) continue;
      try {
        return {
          target: route.target,
          params: Object.fromEntries(
            route.names.map((name, i) => [name, decodeURIComponent(values[i] as string)]),
          ),
        };
      } catch {
        return undefined;
      }
    }
    return undefined;
  }
}
