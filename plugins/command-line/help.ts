// Help texts of commands.
import type { Command, Schema } from '../../kernel/index.js';

/** A command with its syntax. */
export type Typed = Pick<Command, 'name' | 'about' | 'options' | 'operand' | 'example'>;

/** Options are camelCase in code and have dashes on the command line. */
export const dashed = (key: string): string => key.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

interface Described {
  readonly description: string;
  readonly byDefault: unknown;
  readonly isRequired: boolean;
  /** whether it may come without a value */
  readonly isBare: boolean;
}
export function describe(schema: Schema): Described {
  const { flags = {}, allow = [] } = schema.describe() as {
    flags?: { description?: string; default?: unknown; presence?: string };
    allow?: unknown[];
  };
  return {
    description: flags.description ?? '',
    byDefault: flags.default,
    isRequired: flags.presence === undefined || flags.presence === 'required',
    isBare: schema.type === 'boolean' || (schema.type === 'string' && allow.includes('')),
  };
}

export const table = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
};

function typedOption(key: string, schema: Schema): string {
  if (schema.type === 'boolean') return `--${dashed(key)}`;
  return describe(schema).isBare ? `--${dashed(key)} [<…>]` : `--${dashed(key)} <…>`;
}

/** The syntax of a command, with its required options. */
export function usage({ name, options, operand }: Typed): string {
  const rest = Object.entries(options).filter(([key]) => key !== operand);
  const required = rest
    .filter(([, schema]) => describe(schema).isRequired)
    .map(([key, schema]) => ` ${typedOption(key, schema)}`);
  return `weir ${name}${operand === undefined ? '' : ` <${dashed(operand)}>`}${required.join('')}${rest.length > required.length ? ' [options]' : ''}`;
}

export function helpOn(command: Typed): string {
  const { about, options, operand, example } = command;
  const rows = Object.entries(options).map(([key, schema]) => {
    const { description, byDefault, isRequired } = describe(schema);
    const more =
      byDefault !== undefined && byDefault !== false
        ? ` (else ${String(byDefault)})`
        : isRequired && key !== operand
          ? ' (required)'
          : '';
    return [
      key === operand ? `<${dashed(key)}>` : typedOption(key, schema),
      `${description}${more}`.trim(),
    ] as const;
  });
  return [
    `${usage(command)}\n${about}`,
    ...(rows.length > 0 ? [table(rows)] : []),
    `Example: ${example ?? usage(command).replace(' [options]', '')}`,
  ].join('\n\n');
}

const byName = (a: Typed, b: Typed): number => (a.name < b.name ? -1 : 1);

export const help = (commands: readonly Typed[]): string => `weir <command> [options]

${table([...commands].sort(byName).map((command) => [usage(command).slice('weir '.length), command.about]))}

weir <command> --help tells the options of a command and an example, weir --version the version.
The panel is that of the data folder in WEIR_DATA_DIR, whether it runs or not.`;
