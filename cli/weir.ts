// The command line: runs a command in the running panel, or starts a panel for the duration of the command.
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderInUse, LOCK_FILE } from '../file/lock.js';
import { messageOf } from '../kernel/errors/errors.js';
import { bootPanel } from '../panel/boot.js';
import { type Check, checkInChild } from '../panel/check-in-child.js';
import { choosePlugins } from '../panel/choose-plugins.js';
import { dataDirectoryOf, readConfigFile } from '../panel/config-file.js';
import type { Environment } from '../panel/variables.js';
import { declaredCommands } from './declared-commands.js';
import { ownCommands } from './commands.js';
import type { ProgramContext } from './program-command.js';
import { askPanel } from '../plugins/command-line/channel.js';
import { answer, runCommand, type Terminal } from '../plugins/command-line/run.js';
import type { Typed } from '../plugins/command-line/help.js';
import { parseCommandLine } from '../plugins/command-line/parse-command-line.js';

/** How long to wait for a panel that starts or stops. */
const PATIENCE_MS = 15_000;

/** The process of `weir`. */
export async function main(): Promise<void> {
  // A command may start a panel of its own; the files it writes must be readable by their user alone.
  process.umask(0o077);
  const line = (stream: NodeJS.WritableStream) => (text: string) => void stream.write(`${text}\n`);
  process.exit(
    await weir(process.argv.slice(2), process.env, {
      say: line(process.stdout),
      complain: line(process.stderr),
    }),
  );
}

/** Resolves with the exit code: 0, 1 when the command failed, 2 for a usage error. */
export async function weir(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  check: Check = checkInChild,
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
      return await runOwn(argv, {
        env,
        directory,
        check,
        run: (own) => runInPanel(directory, own, env, terminal),
        ...terminal,
      });
    return await runInPanel(directory, argv, env, terminal);
  } catch (error) {
    terminal.complain(messageOf(error));
    return 1;
  }
}

/** In the panel that runs, else in one that only runs this command. */
async function runInPanel(
  directory: string,
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    const exit = await askPanel(directory, argv, terminal);
    if (exit !== undefined) return exit;
    try {
      return await withoutPanel(directory, argv, env, terminal);
    } catch (error) {
      if (!(error instanceof FolderInUse) || Date.now() > deadline) throw error;
    }
  }
}

/** Lists the commands of the program and of plugins, for a call without a command. */
async function tell(env: Environment, argv: readonly string[], terminal: Terminal): Promise<number> {
  let commands: readonly Typed[] = ownCommands;
  try {
    const { plugins } = await choosePlugins(env, await readConfigFile(env));
    commands = [...ownCommands, ...declaredCommands(plugins)];
  } catch (error) {
    terminal.complain(`the commands of plugins cannot be listed: ${messageOf(error)}`);
  }
  const understood = parseCommandLine(commands, argv);
  return 'text' in understood ? answer(understood, terminal) : 2;
}

async function runOwn(argv: readonly string[], here: Omit<ProgramContext, 'options'>): Promise<number> {
  const understood = parseCommandLine(ownCommands, argv);
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
  const understood = parseCommandLine(declaredCommands(chosen.plugins), argv);
  if ('text' in understood) return answer(understood, terminal);
  await refuseForeign(directory, understood.command.fresh);
  // The output is the command's; the panel's log appears only when something is wrong.
  const kernel = await bootPanel({
    ...chosen,
    env: { ...env, WEIR_LOG_LEVEL: env['WEIR_LOG_LEVEL'] || 'error' },
    readable: true,
    write: (line) => terminal.complain(line.trimEnd()),
    forCommand: true,
  });
  try {
    return await runCommand(kernel.commands, argv, terminal, {
      folder: process.cwd(),
      signal: new AbortController().signal,
    });
  } finally {
    await kernel.stop('the command is done');
  }
}

/** Refuses a wrong folder, which would become another panel, and one of another user, whose panel could not open our files. */
async function refuseForeign(directory: string, fresh: boolean): Promise<void> {
  const owner = await stat(directory).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const self = process.getuid?.();
  if (owner !== undefined && self !== undefined && owner !== self)
    throw new Error(
      `${directory} belongs to the user ID ${owner}; run this as that user, or the panel could not open the files that this command creates`,
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
