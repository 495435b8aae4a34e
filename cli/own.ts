// Commands of the program itself: they are about what runs, so they run beside it.
import type { Schema, Static } from '../schema/shape.js';
import type { shape } from '../schema/shape.js';
import type { Check } from '../panel/check-apart.js';
import type { Environment } from '../panel/variables.js';
import type { Typed } from '../plugins/command-line/help.js';
import type { Terminal } from '../plugins/command-line/run.js';

export interface Here<O = never> extends Terminal {
  readonly env: Environment;
  /** the data folder */
  readonly directory: string;
  readonly options: O;
  /** asked whether the panel would start */
  readonly check: Check;
}
export interface Own extends Typed {
  /** Resolves with the exit code. */
  readonly act: (here: Here) => Promise<number>;
}
type Options = Readonly<Record<string, Schema>>;
interface Declared<O extends Options> extends Typed {
  readonly options: O;
  readonly example: string;
  readonly act: (here: Here<Static<ReturnType<typeof shape<O>>>>) => Promise<number>;
}
export const own = <const O extends Options>(declared: Declared<O>): Own => declared as unknown as Own;
