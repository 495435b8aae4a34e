// All routes of all plugins in one table: literal segments win over parameters, and two routes for one request are a mistake.
import type { Route } from './route.js';

export interface Mounted {
  readonly plugin: string;
  readonly route: Route;
  readonly path: string;
}

export const pathOf = (route: Route): string => (typeof route.path === 'function' ? route.path() : route.path);
const isParameter = (segment: string): boolean => segment.startsWith('{');
const shapeOf = ({ path, route }: Mounted): string => `${route.method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;

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
export function sortRoutes(routes: readonly { plugin: string; route: Route }[]): Mounted[] {
  const mounted = routes.map(({ plugin, route }) => ({ plugin, route, path: pathOf(route) })).sort(moreSpecificFirst);
  const seen = new Map<string, Mounted>();
  for (const entry of mounted) {
    const twin = seen.get(`${entry.route.listener} ${shapeOf(entry)}`);
    if (twin) throw new Error(`${shapeOf(entry)} is declared by ${twin.plugin} (${twin.path}) and by ${entry.plugin} (${entry.path})`);
    seen.set(`${entry.route.listener} ${shapeOf(entry)}`, entry);
  }
  return mounted;
}
