// Commands for the command line, as plugins declare them.
import type { Schema, shape, Static } from '../../schema/shape.js';
import type { Principal } from '../auth/principal.js';

type Options = Readonly<Record<string, Schema>>;
type Values<O extends Options> = Static<ReturnType<typeof shape<O>>>;

export interface CommandInput<V> {
  /** values of its options, checked */
  readonly options: V;
  /** the command as the author of its changes */
  readonly who: Principal;
  /** Writes a line to the terminal. */
  readonly say: (line: string) => void;
  /** absolute path of the folder that the caller is in: for paths in the options */
  readonly folder: string;
  /** aborts when nobody waits for the command any more */
  readonly signal: AbortSignal;
}

export interface Command {
  /** one or more words, like `admin reset` */
  readonly name: string;
  /** one sentence for display */
  readonly about: string;
  /** runs even if there is no panel yet: one is created in the data folder */
  readonly fresh: boolean;
  readonly options: Options;
  /** the option that may come without its dashes, right after the words of the command */
  readonly operand?: string | undefined;
  /** a whole command line */
  readonly example?: string | undefined;
  readonly run: (input: CommandInput<never>) => void | Promise<void>;
}

interface Declared<O extends Options> {
  readonly name: string;
  readonly about: string;
  readonly fresh?: boolean;
  /** `subPath` is `--sub-path`; a boolean takes no value. The description of its schema is its help text. */
  readonly options?: O;
  /** the option that may come without its dashes, right after the words of the command: `weir restore FILE` */
  readonly operand?: keyof O & string;
  readonly example?: string;
  /** Fails by throwing; a PanelError's message is shown unchanged. Runs inside the running panel, else in a panel that only runs this command. */
  readonly run: (input: CommandInput<Values<O>>) => void | Promise<void>;
}

export const command = <const O extends Options = Readonly<Record<never, never>>>(
  declared: Declared<O>,
): Command => ({ fresh: false, options: {}, ...declared }) as unknown as Command;
