// The command line: asks the panel that runs, or becomes one for as long as a command takes.
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderInUse, LOCK_FILE } from '../file/lock.js';
import { messageOf } from '../kernel/errors/errors.js';
import { bootPanel } from '../panel/boot.js';
import { type Check, checkApart } from '../panel/check-apart.js';
import { choosePlugins } from '../panel/choose.js';
import { dataDirectoryOf, readConfigFile } from '../panel/config-file.js';
import type { Environment } from '../panel/variables.js';
import { declaredCommands } from './declared.js';
import { ownCommands } from './commands.js';
import type { Here } from './own.js';
import { askPanel } from '../plugins/command-line/channel.js';
import { answer, runCommand, type Terminal } from '../plugins/command-line/run.js';
import type { Typed } from '../plugins/command-line/help.js';
import { understand } from '../plugins/command-line/understand.js';

/** How long a panel that starts or stops is waited for. */
const PATIENCE_MS = 15_000;

/** The process of `weir`. */
export async function main(): Promise<void> {
  // A command may become the panel for as long as it takes, and what it writes is its user's alone.
  process.umask(0o077);
  const line = (stream: NodeJS.WritableStream) => (text: string) => void stream.write(`${text}\n`);
  process.exit(
    await weir(process.argv.slice(2), process.env, {
      say: line(process.stdout),
      complain: line(process.stderr),
    }),
  );
}

/** Resolves with the exit code: 0, 1 when it failed, 2 when nobody understood what was typed. */
export async function weir(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  check: Check = checkApart,
): Promise<number> {
  try {
    if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) {
      const { version } = JSON.parse(
        await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
      ) as { version: string };
      terminal.say(version);
      return 0;
    }
    const directory = dataDirectoryOf(env);
    const words = argv.filter((word) => !word.startsWith('-'));
    const [first] = words[0] === 'help' ? words.slice(1) : words;
    if (first === undefined) return await tell(env, argv, terminal);
    if (ownCommands.some(({ name }) => name.split(' ')[0] === first))
      return await runOwn(argv, { env, directory, check, ...terminal });
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(200)) {
      const exit = await askPanel(directory, argv, terminal);
      if (exit !== undefined) return exit;
      try {
        return await withoutPanel(directory, argv, env, terminal);
      } catch (error) {
        if (!(error instanceof FolderInUse) || Date.now() > deadline) throw error;
      }
    }
  } catch (error) {
    terminal.complain(messageOf(error));
    return 1;
  }
}

/** For who names no command: which there are, of the program and of plugins. */
async function tell(env: Environment, argv: readonly string[], terminal: Terminal): Promise<number> {
  let commands: readonly Typed[] = ownCommands;
  try {
    const { plugins } = await choosePlugins(env, await readConfigFile(env));
    commands = [...ownCommands, ...declaredCommands(plugins)];
  } catch (error) {
    terminal.complain(`the commands of plugins cannot be told: ${messageOf(error)}`);
  }
  const understood = understand(commands, argv);
  return 'text' in understood ? answer(understood, terminal) : 2;
}

async function runOwn(argv: readonly string[], here: Omit<Here, 'options'>): Promise<number> {
  const understood = understand(ownCommands, argv);
  if ('text' in understood) return answer(understood, here);
  return understood.command.act({ ...here, options: understood.options as never });
}

async function withoutPanel(
  directory: string,
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  const chosen = await choosePlugins(env, await readConfigFile(env));
  const understood = understand(declaredCommands(chosen.plugins), argv);
  if ('text' in understood) return answer(understood, terminal);
  await refuseForeign(directory, understood.command.fresh);
  // Its output is the command's; what the panel has to tell belongs to it only when something is wrong.
  const kernel = await bootPanel({
    ...chosen,
    env: { ...env, WEIR_LOG_LEVEL: env['WEIR_LOG_LEVEL'] || 'error' },
    readable: true,
    write: (line) => terminal.complain(line.trimEnd()),
    forCommand: true,
  });
  try {
    return await runCommand(kernel.commands, argv, terminal, new AbortController().signal);
  } finally {
    await kernel.stop('the command has ended');
  }
}

/** A wrong folder would become another panel, and files of another user would keep the panel from its own. */
async function refuseForeign(directory: string, fresh: boolean): Promise<void> {
  const owner = await stat(directory).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const self = process.getuid?.();
  if (owner !== undefined && self !== undefined && owner !== self)
    throw new Error(
      `${directory} belongs to the user with number ${owner}; run this as that user, for the panel could not open files that you leave there`,
    );
  const there = await access(join(directory, LOCK_FILE)).then(
    () => true,
    () => false,
  );
  if (!there && !fresh)
    throw new Error(
      `there is no panel in ${directory}; set WEIR_DATA_DIR to its data folder, or start one first`,
    );
}
