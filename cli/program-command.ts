// Commands of the program itself. They work on the panel as a whole, so they run outside of it.
import type { Schema, Static } from '../schema/shape.js';
import type { shape } from '../schema/shape.js';
import type { Check } from '../panel/check-in-child.js';
import type { Environment } from '../panel/variables.js';
import type { Typed } from '../plugins/command-line/help.js';
import type { Terminal } from '../plugins/command-line/run.js';

export interface ProgramContext<O = never> extends Terminal {
  readonly env: Environment;
  /** the data folder */
  readonly directory: string;
  readonly options: O;
  /** asked whether the panel would start */
  readonly check: Check;
  /** Runs a command of a plugin, in the panel that runs or in one of its own; resolves with the exit code. */
  readonly run: (argv: readonly string[]) => Promise<number>;
}
export interface ProgramCommand extends Typed {
  /** Resolves with the exit code. */
  readonly act: (context: ProgramContext) => Promise<number>;
}
type Options = Readonly<Record<string, Schema>>;
interface Declared<O extends Options> extends Typed {
  readonly options: O;
  readonly example: string;
  readonly act: (context: ProgramContext<Static<ReturnType<typeof shape<O>>>>) => Promise<number>;
}
export const programCommand = <const O extends Options>(declared: Declared<O>): ProgramCommand =>
  declared as unknown as ProgramCommand;
