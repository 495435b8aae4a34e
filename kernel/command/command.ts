// Commands of the command line, as plugins declare them.
import type { Schema, Static } from '../../schema/shape.js';
import type { Principal } from '../auth/principal.js';
import type { shape } from '../../schema/shape.js';

type Options = Readonly<Record<string, Schema>>;
type Values<O extends Options> = Static<ReturnType<typeof shape<O>>>;

export interface CommandInput<V> {
  /** as declared and checked */
  readonly options: V;
  /** the command, as the one who makes changes */
  readonly who: Principal;
  /** Writes a line for the person at the terminal. */
  readonly say: (line: string) => void;
  /** aborted when nobody waits for the command any more */
  readonly signal: AbortSignal;
}

export interface Command {
  /** words, like `admin reset` */
  readonly name: string;
  /** one sentence for people */
  readonly about: string;
  /** also where there is no panel yet: one is made in the data folder */
  readonly fresh: boolean;
  readonly options: Options;
  /** a whole line, as somebody might type it */
  readonly example?: string | undefined;
  readonly run: (input: CommandInput<never>) => void | Promise<void>;
}

interface Declared<O extends Options> {
  readonly name: string;
  readonly about: string;
  readonly fresh?: boolean;
  /** `subPath` is `--sub-path`; a boolean takes no value. What each is for is its schema's description. */
  readonly options?: O;
  readonly example?: string;
  /** Fails by throwing; a PanelError's sentence is shown as it is. It runs inside the panel when there is one, else in a panel that only does this. */
  readonly run: (input: CommandInput<Values<O>>) => void | Promise<void>;
}

export function command<const O extends Options = Readonly<Record<never, never>>>({
  name,
  about,
  fresh = false,
  options,
  example,
  run,
}: Declared<O>): Command {
  return { name, about, fresh, options: options ?? {}, example, run: run as Command['run'] };
}
