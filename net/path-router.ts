// Finds the target of a request path with find-my-way's radix tree: its time depends on the path, not on the number of
// routes.
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** A segment that starts with `{` is a parameter: `{name}` matches a segment, `{name*}` at the end the rest of the path. */
const PARAMETER = /^\{(\w+)(\*?)\}$/;
/** Segments of letters, digits, `-` `_` `.` `~` `@`. A whole segment may be a parameter, and the last one a wildcard. */
const PATTERN = /^(?:\/(?:\{\w+\}|[\w.~@-]*))*(?:\/\{\w+\*\})?$/;
/** Longer than any URL that Node accepts. */
const LONGEST = 1 << 17;
/** Segments that would lead out of the folder that a wildcard is appended to. */
const LEADS_ELSEWHERE = /(?:^|[/\\])\.\.?(?:[/\\]|$)|\0/;

/** Whether a path can be added to a PathRouter. */
export const isPathPattern = (path: string): boolean => path !== '' && PATTERN.test(path);

/** Empty for text, `{}` for a parameter, `{*}` for a wildcard. */
const kindOf = (segment: string): '' | '{}' | '{*}' => {
  const [parameter, , star] = PARAMETER.exec(segment) ?? [];
  if (parameter === undefined) return '';
  return star === '' ? '{}' : '{*}';
};

/** The pattern without the names of its parameters: two patterns of the same shape match the same paths. */
export const shapeOfPath = (path: string): string =>
  path
    .split('/')
    .map((segment) => kindOf(segment) || segment)
    .join('/');

/** A text that sorts shapes segment by segment: end, then text, then parameters, then wildcards. Each shape has its own. */
export const specificityOf = (shape: string): string =>
  shape.replaceAll('/', '\u0001').replaceAll('{}', '\uFFFE').replaceAll('{*}', '\uFFFF');

/** A target with the values of its parameters, decoded. */
export interface Found<T> {
  readonly target: T;
  readonly params: Record<string, string>;
}

/** Paths with their targets. Text takes precedence over parameters, and parameters over wildcards, in any order of `add`. */
export class PathRouter<T> {
  readonly #tree = findMyWay<never>({
    caseSensitive: true,
    maxParamLength: LONGEST,
    // The query is read elsewhere, and only on demand.
    querystringParser: () => ({}),
  });

  /** Throws where the pattern is invalid or already there. */
  add(method: string, pattern: string, target: T): void {
    const path = pattern.split('/').map((segment) => {
      const [parameter, name, star] = PARAMETER.exec(segment) ?? [];
      if (parameter === undefined) return segment;
      return star === '' ? `:${name}` : '*';
    });
    const wildcard = /\{(\w+)\*\}$/.exec(pattern)?.[1];
    this.#tree.on(method as HTTPMethod, path.join('/'), () => undefined, { target, wildcard });
  }

  /**
   * Takes a URL from the slash of its path on, with or without a query. Undefined where no pattern matches, where the path
   * cannot be decoded, and where a wildcard would contain a `.` or `..` segment or a zero byte. A parameter has at least
   * one character; a wildcard may be empty.
   */
  find(method: string, url: string): Found<T> | undefined {
    const found = url.startsWith('/') ? this.#tree.find(method as HTTPMethod, url) : null;
    if (!found) return undefined;
    const { target, wildcard } = found.store as { target: T; wildcard: string | undefined };
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found.params as Record<string, string>)) {
      if (name !== '*' && value === '') return undefined;
      if (name === '*' && LEADS_ELSEWHERE.test(value)) return undefined;
      params[name === '*' ? (wildcard ?? name) : name] = value;
    }
    return { target, params };
  }
}
