// The text of a declaration: which of its names refer to something, the same with other names, and a class without what nobody may use.

const TOKEN =
  /\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|import\("([^"]+)"\)\.(\w+)|[A-Za-z_$][\w$]*|[\s\S]/g;
const WORD = /^[A-Za-z_$]/;
const KEYWORDS = new Set(
  (
    'abstract any as asserts async bigint boolean class const constructor declare default export extends false function get implements import in infer ' +
    'interface is keyof never new null number object out override private protected public readonly set static string symbol this true type typeof ' +
    'undefined unique unknown void'
  ).split(' '),
);

export interface Reference {
  readonly name: string;
  /** `import("…").Name` says where it is from */
  readonly specifier: string | undefined;
}

/** What follows the `<` at `from` once it is closed; an arrow's `>` closes nothing. */
function afterBrackets(text: string, from: number): string {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '<') depth++;
    else if (text[i] === '>' && text[i - 1] !== '=' && --depth === 0) return text[i + 1] ?? '';
  }
  return '';
}

/** A key, a parameter, a method or a part of a longer name refers to nothing. The compiler writes `key: T`, and a space in `T ? U : V`. */
function isReference(text: string, word: string, at: number): boolean {
  if (KEYWORDS.has(word)) return false;
  const before = text.slice(Math.max(0, at - 20), at);
  if (before.endsWith('.') && !before.endsWith('...')) return false;
  const next = text[at + word.length] ?? '';
  if (next === ':' || next === '(' || next === '?') return false;
  if (next === '<' && afterBrackets(text, at + word.length) === '(') return false;
  // `class X`, `infer T`, `[K in …]` declare.
  return (
    !/\b(?:class|interface|type|const|function|infer)\s+$/.test(before) &&
    !(before.endsWith('[') && text.slice(at + word.length).startsWith(' in '))
  );
}

export function references(text: string): Reference[] {
  const found: Reference[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [token, specifier, imported] = match;
    if (imported !== undefined) found.push({ name: imported, specifier });
    else if (WORD.test(token) && isReference(text, token, match.index))
      found.push({ name: token, specifier: undefined });
  }
  return found;
}

export const keyOf = ({ name, specifier }: Reference): string =>
  specifier === undefined ? name : `${specifier}#${name}`;

/** `nameOf` answers by `keyOf`; undefined leaves the name as it is. */
export const rewrite = (text: string, nameOf: (key: string) => string | undefined): string =>
  text.replaceAll(
    TOKEN,
    (token: string, specifier: string | undefined, imported: string | undefined, at: number) => {
      if (imported !== undefined) return nameOf(keyOf({ name: imported, specifier })) ?? token;
      return WORD.test(token) && isReference(text, token, at) ? (nameOf(token) ?? token) : token;
    },
  );

/** The members of a class or an interface, each with its comment; they begin four columns in. */
function membersOf(body: string): string[] {
  const members: string[] = [];
  for (const line of body.split('\n')) {
    const last = members.at(-1);
    const begins = /^ {4}[^ }\])]/.test(line);
    if (last === undefined || (begins && /[;}]$/.test(last))) members.push(line);
    else members[members.length - 1] = `${last}\n${line}`;
  }
  return members;
}

const declares = (member: string): string => member.replace(/^\s*\/\*\*[\s\S]*?\*\/\s*/, '').trimStart();

/** Without its private members. As an interface, where nobody can build it, without what only its builder needs. */
export function publicClass(text: string, as: 'class' | 'interface'): string {
  const [head = '', ...rest] = text.split('\n');
  if (head.endsWith('}')) return text;
  const end = rest.pop() ?? '';
  let members = membersOf(rest.join('\n')).filter(
    (member) => !/^(?:#|(?:private|protected) (?!constructor))/.test(declares(member)),
  );
  if (as === 'class') return [head, ...members, end].join('\n');
  members = members
    .filter((member) => !/^(?:static |constructor\(|private )/.test(declares(member)))
    .map((member) =>
      member
        .replace(/^( {4})(?:abstract )?get (\w+)\(\)/m, '$1readonly $2')
        .replace(/^( {4}readonly \w+) = /m, '$1: '),
    );
  return [
    head.replace(/^(?:abstract )?class/, 'interface').replace(' implements ', ' extends '),
    ...members,
    end,
  ].join('\n');
}
