// The calls of the API as its OpenAPI document has them: found by a search, filled in, written as a command.

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly isRequired: boolean;
  readonly about: string;
  /** what it may be, where it is one of a few */
  readonly options: readonly string[];
}
export interface Operation {
  readonly name: string;
  readonly path: string;
  readonly about: string;
  readonly parameters: readonly Parameter[];
}

type Json = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectOf) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function parameterOf(declared: Json): Parameter[] {
  const place = declared['in'];
  if (place !== 'path' && place !== 'query') return [];
  const some = objectOf(declared['schema'])['enum'];
  return [
    {
      name: textOf(declared['name']),
      in: place,
      isRequired: place === 'path' || declared['required'] === true,
      about: textOf(declared['description']),
      options: Array.isArray(some) ? some.map(String) : [],
    },
  ];
}

const PREFIX = '/panel/api/';

/** The calls that read, but for those of browsers and of other programs: to try one changes nothing. By name. */
export function readingCalls(document: unknown): Operation[] {
  return Object.entries(objectOf(objectOf(document)['paths']))
    .flatMap(([path, methods]) => {
      const get = objectOf(methods)['get'];
      if (get === undefined || !path.startsWith(PREFIX)) return [];
      const { operationId, summary, parameters } = objectOf(get);
      return [
        {
          name: textOf(operationId) || path,
          path,
          about: textOf(summary),
          parameters: listOf(parameters).flatMap(parameterOf),
        },
      ];
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Calls with each word of the search in name, path or summary. */
export function foundCalls(calls: readonly Operation[], search: string): Operation[] {
  const words = search.toLowerCase().split(/\s+/);
  return calls.filter(({ name, path, about }) => {
    const text = `${name} ${path} ${about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Browsers take these for steps between folders, however they are written. */
const STEPS: ReadonlySet<string> = new Set(['', '.', '..']);

/** Relative to the panel; undefined while a value is missing, or cannot stand in a path. */
export function pathOf(
  { path, parameters }: Operation,
  values: Readonly<Record<string, string>>,
): string | undefined {
  const query = new URLSearchParams();
  let filled = path.replace(/^\//, '');
  for (const { name, in: place, isRequired } of parameters) {
    const value = values[name] ?? '';
    if (place === 'path') {
      if (STEPS.has(value)) return undefined;
      filled = filled.replace(`{${name}}`, () => encodeURIComponent(value));
    } else if (value !== '') query.set(name, value);
    else if (isRequired) return undefined;
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** For a shell: nothing in the address ends the quotes. */
export const commandOf = (url: string): string =>
  `curl -H 'Authorization: Bearer TOKEN' '${url.replaceAll("'", "'\\''")}'`;

/** Longest reply that is shown. */
const LONGEST = 50_000;
export interface ShownReply {
  readonly text: string;
  /** characters that are left out */
  readonly more: number;
}

/** A reply as text; `''` for one that is no text. */
export function shownReply(text: string, type: string): ShownReply {
  if (!/\b(?:json|text|yaml|xml|javascript)\b/i.test(type)) return { text: '', more: 0 };
  let whole = text;
  if (/json/i.test(type) && text.length <= 20 * LONGEST)
    try {
      whole = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Shown as it is.
    }
  return { text: whole.slice(0, LONGEST), more: Math.max(0, whole.length - LONGEST) };
}
