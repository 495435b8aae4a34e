// Parses a command line: the command with its options, or a text to print instead.
import { parseArgs } from 'node:util';
import { inspect, messageOf, type Schema, shape, sentenceOf } from '../../kernel/index.js';
import { dashed, describe, help, helpOn, type Typed } from './help.js';
import { didYouMean, suggest } from '../../kernel/index.js';

/** Text for the terminal, with its exit code. */
export interface Answered {
  readonly text: string;
  readonly exit: 0 | 2;
}
/** The command and its options, or the text to print instead. */
export type ParsedCommand<C extends Typed> = { readonly command: C; readonly options: unknown } | Answered;

/** Commands of the program around the panel. They are listed here so that a typing mistake is not taken for another command. */
export const PROGRAM_COMMANDS = [
  ...['ban-guard install', 'ban-guard remove', 'ban-guard show'],
  ...['check', 'dev', 'health', 'plugin add', 'plugin remove', 'purge', 'restore', 'rollback', 'upgrade'],
] as const;

const camel = (option: string): string => option.replaceAll(/-([a-z])/g, (_, c: string) => c.toUpperCase());

function unknown(commands: readonly Typed[], words: readonly string[]): string {
  const typed = words.join(' ');
  const names = [...new Set([...commands.map(({ name }) => name), ...PROGRAM_COMMANDS])];
  const same = names.filter((name) => name.split(' ')[0] === words[0]);
  if (same.length > 0)
    return `there is no command "${typed}"; did you mean ${same.map((name) => `weir ${name}`).join(', ')}?`;
  // The words after a command may be anything.
  const meant = names.flatMap((name) => suggest(words.slice(0, name.split(' ').length).join(' '), [name]));
  return `there is no command "${typed}"; ${meant.length > 0 ? `did you mean ${meant.map((name) => `weir ${name}`).join(' or ')}?` : 'weir --help lists all commands'}`;
}

type Read = { readonly values: unknown } | { readonly problem: string };

function read({ options, operand }: Typed, argv: readonly string[]): Read {
  const typed = Object.entries(options).map(([key, { type }]) => [
    dashed(key),
    { type: type === 'boolean' ? 'boolean' : 'string', multiple: type === 'array' } as const,
  ]);
  // An option that may come without a value: `--explain` is `--explain=`.
  const bare = new Set(
    Object.entries(options).flatMap(([key, schema]) =>
      schema.type === 'string' && describe(schema).isBare ? [`--${dashed(key)}`] : [],
    ),
  );
  const args = argv.map((word, i) =>
    bare.has(word) && (argv[i + 1] ?? '-').startsWith('-') ? `${word}=` : word,
  );
  try {
    const { values, positionals } = parseArgs({
      args,
      options: Object.fromEntries(typed),
      strict: true,
      allowPositionals: true,
    });
    const given = new Map<string, unknown>(Object.entries(values).map(([key, value]) => [camel(key), value]));
    const [first, ...others] = positionals;
    if (first !== undefined && operand !== undefined && !given.has(operand)) given.set(operand, first);
    else if (first !== undefined) others.unshift(first);
    if (others.length > 0) return { problem: `unexpected argument "${others[0]}"` };
    const labels = Object.entries(options).map(([key, schema]) => [
      key,
      schema.label(key === operand ? `<${dashed(key)}>` : `--${dashed(key)}`),
    ]);
    const result = inspect(
      shape(Object.fromEntries(labels) as Record<string, Schema>),
      Object.fromEntries(given),
      { convert: true },
    );
    return 'value' in result ? { values: result.value } : { problem: sentenceOf(result.issues) };
  } catch (error) {
    // Shortens Node's long message about arguments that begin with a dash.
    const problem = messageOf(error).replace(/\. .*$/s, '');
    const [, option] = /^Unknown option '--([^']+)'$/.exec(problem) ?? [];
    const names = Object.keys(options).map(dashed);
    return {
      problem:
        option === undefined
          ? problem
          : `there is no option --${option}${didYouMean(
              `--${option}`,
              names.map((name) => `--${name}`),
            )}`,
    };
  }
}

export function parseCommandLine<C extends Typed>(
  commands: readonly C[],
  argv: readonly string[],
): ParsedCommand<C> {
  const wantsHelp = argv.some((word) => word === '--help' || word === '-h');
  const end = argv.findIndex((word) => word.startsWith('-'));
  const words = end < 0 ? argv : argv.slice(0, end);
  if (words[0] === 'help') return parseCommandLine(commands, [...argv.slice(1), '--help']);
  if (words.length === 0)
    return wantsHelp || argv.length === 0
      ? { text: help(commands), exit: 0 }
      : { text: unknown(commands, argv), exit: 2 };
  const found = commands
    .filter(({ name }) => name.split(' ').every((word, i) => word === words[i]))
    .sort((a, b) => b.name.length - a.name.length)[0];
  if (!found)
    return wantsHelp && commands.some(({ name }) => name.split(' ')[0] === words[0])
      ? { text: help(commands.filter(({ name }) => name.split(' ')[0] === words[0])), exit: 0 }
      : { text: unknown(commands, words), exit: 2 };
  if (wantsHelp) return { text: helpOn(found), exit: 0 };
  const result = read(found, argv.slice(found.name.split(' ').length));
  return 'values' in result
    ? { command: found, options: result.values }
    : { text: `${result.problem}; weir ${found.name} --help lists the options`, exit: 2 };
}
