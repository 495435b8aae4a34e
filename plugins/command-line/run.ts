// Runs a command line.
import { messageOf, type OwnedCommand, PanelError } from '../../kernel/index.js';
import { type Answered, parseCommandLine } from './parse-command-line.js';

/** Receives the output of a command. */
export interface Terminal {
  readonly say: (line: string) => void;
  readonly complain: (line: string) => void;
}

export function answer({ text, exit }: Answered, { say, complain }: Terminal): number {
  (exit === 0 ? say : complain)(text);
  return exit;
}

/** Resolves with the exit code: 0, 1 when the command failed, 2 for a usage error. */
export async function runCommand(
  commands: readonly OwnedCommand[],
  argv: readonly string[],
  { say, complain }: Terminal,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<number> {
  const understood = parseCommandLine(commands, argv);
  if ('text' in understood) return answer(understood, { say, complain });
  const {
    command: { name, run, owner },
    options,
  } = understood;
  if (owner.isOff) {
    complain(owner.offReason);
    return 1;
  }
  try {
    await run({ options: options as never, who: { kind: 'command', name }, say, folder, signal });
    return 0;
  } catch (error) {
    complain(messageOf(error));
    if (!(error instanceof PanelError) || error.status >= 500) owner.fault(`command ${name}`, error);
    return 1;
  }
}
