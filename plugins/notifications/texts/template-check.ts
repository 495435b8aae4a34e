// Checks ICU messages: what arguments they have, and that each language has those of English.
import { IntlMessageFormat } from 'intl-messageformat';

const LONGEST_TEMPLATE = 2_000;

interface Element {
  readonly type: number;
  readonly value: string;
  readonly options?: Readonly<Record<string, { readonly value: readonly Element[] }>>;
}
/** Numbers of the parser for literals, for `{x, select, …}`, and for `#` in a plural. */
const LITERAL = 0;
const SELECT = 5;
const POUND = 7;

function collect(elements: readonly Element[], isMeant: (type: number) => boolean, into: Set<string>): void {
  for (const { type, value, options } of elements) {
    if (isMeant(type)) into.add(value);
    for (const option of Object.values(options ?? {})) collect(option.value, isMeant, into);
  }
}

/** Returns the names of the arguments that decide between texts. */
export function selectorsOf(message: IntlMessageFormat): ReadonlySet<string> {
  const found = new Set<string>();
  collect(message.getAst() as unknown as readonly Element[], (type) => type === SELECT, found);
  return found;
}

/** Returns the names of the arguments of a message, or a sentence where it is not a valid one. */
export function argumentsOf(template: unknown): ReadonlySet<string> | string {
  if (typeof template !== 'string' || template === '') return 'it must be a text that is not blank';
  if (template.length > LONGEST_TEMPLATE) return `it is longer than ${LONGEST_TEMPLATE} characters`;
  try {
    const message = new IntlMessageFormat(template, 'en', undefined, { ignoreTag: true });
    const found = new Set<string>();
    collect(
      message.getAst() as unknown as readonly Element[],
      (type) => type !== LITERAL && type !== POUND,
      found,
    );
    return found;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns what is wrong with a message in several languages, if anything. */
export function textsProblem(texts: object): string | undefined {
  if (typeof texts !== 'object' || texts === null)
    return 'it must be an object of texts by language, en at least';
  const all = texts as Readonly<Record<string, unknown>>;
  const english = argumentsOf(all['en']);
  if (typeof english === 'string') return `en is not a valid message: ${english}`;
  for (const [language, template] of Object.entries(all)) {
    const found = argumentsOf(template);
    if (typeof found === 'string') return `${language} is not a valid message: ${found}`;
    const stray =
      [...found].find((name) => !english.has(name)) ?? [...english].find((name) => !found.has(name));
    if (stray !== undefined) return `${language} does not have the same arguments as en: {${stray}}`;
  }
  return undefined;
}
