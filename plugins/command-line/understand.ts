// What somebody typed: which command, with which options; or what to say to it.
import { parseArgs } from 'node:util';
import { type Command, inspect, messageOf, type Schema, shape } from '../../kernel/index.js';

/** Text for the terminal, and the exit code that goes with it. */
export interface Answered {
  readonly text: string;
  readonly exit: 0 | 2;
}
/** What a command can be run with, or what is said instead. */
export type Understood<C extends Command> = { readonly command: C; readonly options: unknown } | Answered;

const dashed = (key: string): string => key.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
const camel = (option: string): string => option.replaceAll(/-([a-z])/g, (_, c: string) => c.toUpperCase());
const table = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
};

function helpOn({ name, about, options }: Command): string {
  const rows = Object.entries(options).map(([key, schema]) => {
    const { flags } = schema.describe() as { flags?: { description?: string } };
    return [`--${dashed(key)}${schema.type === 'boolean' ? '' : ' <…>'}`, flags?.description ?? ''] as const;
  });
  return `weir ${name}${rows.length > 0 ? ' [options]' : ''}\n${about}${rows.length > 0 ? `\n\n${table(rows)}` : ''}`;
}

const help = (commands: readonly Command[]): string => `weir <command> [options]

${table([...commands].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, about }) => [name, about]))}

weir <command> --help tells the options of a command, weir --version the version.
The panel is that of the data folder in WEIR_DATA_DIR, whether it runs or not.`;

function unknown(commands: readonly Command[], words: readonly string[]): string {
  const near = commands.filter(({ name }) => name.split(' ')[0] === words[0]).map(({ name }) => `weir ${name}`);
  return `there is no command "${words.join(' ')}"; ${near.length > 0 ? `there is ${near.join(', ')}` : 'weir --help lists those that there are'}`;
}

function read(options: Command['options'], argv: readonly string[]): { values: unknown } | { problem: string } {
  const typed = Object.entries(options).map(([key, { type }]) => [
    dashed(key),
    { type: type === 'boolean' ? 'boolean' : 'string', multiple: type === 'array' } as const,
  ]);
  try {
    const { values } = parseArgs({ args: [...argv], options: Object.fromEntries(typed), strict: true, allowPositionals: false });
    const named = Object.fromEntries(Object.entries(options).map(([key, schema]) => [key, schema.label(`--${dashed(key)}`)])) as Record<string, Schema>;
    const result = inspect(shape(named), Object.fromEntries(Object.entries(values).map(([key, value]) => [camel(key), value])), { convert: true });
    return 'value' in result ? { values: result.value } : { problem: result.issues.map(({ message }) => message).join('; ') };
  } catch (error) {
    // Node goes on about arguments that begin with a dash.
    return { problem: messageOf(error).replace(/\. .*$/s, '') };
  }
}

export function understand<C extends Command>(commands: readonly C[], argv: readonly string[]): Understood<C> {
  const wantsHelp = argv.some((word) => word === '--help' || word === '-h');
  const end = argv.findIndex((word) => word.startsWith('-'));
  const words = end < 0 ? argv : argv.slice(0, end);
  if (words.length === 0) return wantsHelp || argv.length === 0 ? { text: help(commands), exit: 0 } : { text: unknown(commands, argv), exit: 2 };
  const found = commands.filter(({ name }) => name.split(' ').every((word, i) => word === words[i])).sort((a, b) => b.name.length - a.name.length)[0];
  if (!found)
    return wantsHelp && commands.some(({ name }) => name.split(' ')[0] === words[0])
      ? { text: help(commands.filter(({ name }) => name.split(' ')[0] === words[0])), exit: 0 }
      : { text: unknown(commands, words), exit: 2 };
  if (wantsHelp) return { text: helpOn(found), exit: 0 };
  const result = read(found.options, argv.slice(found.name.split(' ').length));
  return 'values' in result ? { command: found, options: result.values } : { text: `${result.problem}; weir ${found.name} --help tells the options`, exit: 2 };
}
