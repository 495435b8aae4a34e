// What the panel says about fields, by path: `sockopt.mark`, `accounts.0.pass`.
export type Problems = ReadonlyMap<string, string>;

/** The problems below a field, by their path within it. */
export const below = (problems: Problems | undefined, name: string): Problems =>
  new Map(
    [...(problems ?? [])].flatMap(([path, text]) =>
      path.startsWith(`${name}.`) ? [[path.slice(name.length + 1), text] as const] : [],
    ),
  );

/** Beside its field, a problem does not repeat the path that the panel begins with: `a.port must be: …`. */
function atField(text: string, name: string): string {
  const [first = ''] = text.split(' ', 1);
  const path = first.replace(/:$/, '');
  return path === name || path.endsWith(`.${name}`) ? text.slice(first.length + 1) : text;
}

/** Of the field itself. */
export function ownProblem(problems: Problems | undefined, name: string): string | undefined {
  const text = problems?.get(name);
  return text === undefined ? undefined : atField(text, name);
}

/** Of a field without inputs for its parts: also what is wrong with them, such as the second item of a list. */
export function problemOf(problems: Problems | undefined, name: string): string | undefined {
  const own = [...(problems ?? [])].filter(([path]) => path === name || path.startsWith(`${name}.`));
  return own.length === 0
    ? undefined
    : [...new Set(own.map(([path, text]) => (path === name ? atField(text, name) : text)))].join('; ');
}

/** Whether something is wrong with one of these fields: a fold around them must not hide it. */
export const hasProblem = (problems: Problems | undefined, names: readonly string[]): boolean =>
  names.some((name) => problemOf(problems, name) !== undefined);
