// Names of operations for programs: the name of the route, or one derived from method and path.
import type { Route } from '../../kernel/index.js';

const words = (segment: string): string[] => segment.split(/[^A-Za-z0-9]+/).filter(Boolean);
const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
const small = (word: string): string => `${word.charAt(0).toLowerCase()}${word.slice(1)}`;
/** `Paged`, `ByEmail`. */
const spoken = (segment: string): string =>
  `${segment.startsWith('{') ? 'By' : ''}${words(segment).map(capital).join('')}`;
const identifier = (text: string): string => (/^[A-Za-z]/.test(text) ? small(text) : `_${text}`);

/** Derived from method and path alone, so that no other route changes it: `clients.getByEmail`, `acmeTally.getDays`. POST, the method of most calls, is omitted; for the path of a third-party plugin, the area is the plugin. */
export function derivedName(method: string, path: string): string {
  const segments = path
    .replace(/^\/(?:panel\/)?(?:api\/)?(?:x\/)?/, '')
    .split('/')
    .filter(Boolean)
    .map(spoken);
  const [area = 'root', ...rest] = segments;
  const what = rest.join('');
  return `${identifier(area)}.${method === 'POST' && what !== '' ? identifier(what) : `${method.toLowerCase()}${what}`}`;
}

const isWithin = (name: string, group: string): boolean => name.startsWith(`${group}.`);
export const clashes = (name: string, other: string): boolean =>
  name === other || isWithin(name, other) || isWithin(other, name);

/** The kernel ensures that declared names differ; a derived one that clashes gets a number at its end. */
export function namesOf<T extends { readonly path: string; readonly route: Pick<Route, 'method' | 'name'> }>(
  served: readonly T[],
): Map<T, string> {
  const names = new Map(
    served.flatMap((one) => (one.route.name === undefined ? [] : [[one, one.route.name] as const])),
  );
  const taken = [...names.values()];
  for (const one of served.filter(({ route }) => route.name === undefined)) {
    const derived = derivedName(one.route.method, one.path);
    let name = derived;
    for (let i = 2; taken.some((other) => clashes(name, other)); i++) name = `${derived}${i}`;
    taken.push(name);
    names.set(one, name);
  }
  return names;
}
