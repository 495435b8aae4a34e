// The panel's process: its log, its signals, and the errors that nobody caught.
import './heap.js';
import { once } from 'node:events';
import { isatty } from 'node:tty';
import { provide } from '../kernel/container/token.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { KernelOptions } from '../kernel/options.js';
import type { Log } from '../kernel/log/log.js';
import { Leaving, PanelLeaving } from '../plugins/cluster/contract.js';
import { createLog } from './log.js';
import { LogBuffer } from './log-buffer.js';
import { Output, redirect } from './output.js';
import { dataDirectoryOf } from './config-file.js';
import { LoopWatch, WATCH_LIMITS, type WatchLimits } from './loop-watch.js';
import { guardExit, PLUGIN_ENDED_PROCESS } from './exit-guard.js';
import { recordPluginExit } from './plugin-exits.js';
import { onPluginFiles, type PluginFiles, pluginFiles, pluginThatThrew } from './plugin-files.js';
import { Program } from './program.js';

/** Less than service managers allow. */
const PROCESS_STOP_LIMIT_MS = 9_500;

interface MainOptions {
  /** for tests, which wait less */
  readonly limits?: KernelOptions['limits'] & Partial<WatchLimits>;
  /** for `weir dev` */
  readonly selfChecks?: boolean;
  /** stops the panel when it aborts, and leaves the core running for the next process */
  readonly leave?: AbortSignal;
}

export async function main({ limits = {}, leave, selfChecks }: MainOptions = {}): Promise<void> {
  // Files of the panel and its programs, the core's logs among them, are readable by their user alone.
  process.umask(0o077);
  // A property that a plugin adds to every object by accident breaks unrelated code, such as logins. Adding one throws instead.
  for (const shared of [Object.prototype, Array.prototype]) Object.preventExtensions(shared);
  const onTerminal = isatty(1);
  const logBuffer = new LogBuffer();
  const log = openLog(onTerminal, logBuffer);
  const exitUnstarted = (error: unknown): void => {
    log.error(
      'the panel could not start',
      // The sentence is for people; the stack is for debugging.
      { problem: messageOf(error), ...(process.env['WEIR_LOG_LEVEL'] === 'debug' && { error }) },
    );
    process.exit(ending ? 0 : 1);
  };
  const watchLimits = { ...WATCH_LIMITS, ...limits };
  const directory = dataDirectoryOf(process.env);
  const watch = new LoopWatch({ readable: onTerminal, limits: watchLimits, directory }, log);
  const leaving = new Leaving();
  const program = new Program({
    env: process.env,
    provides: [provide(PanelLeaving, leaving)],
    log,
    readable: onTerminal,
    logBuffer,
    limits,
    selfChecks,
    lost: exitUnstarted,
    early: watchLimits.early,
  });
  onPluginFiles(() => watch.tell({ plugins: pluginFiles(), startedAt: program.startedAt }));
  let ending = false;
  const recordEarlyExit = (plugin: PluginFiles, how: string): void => {
    if (program.isEarly) recordPluginExit(directory, plugin, how);
  };
  guardExit(log, recordEarlyExit);

  const hurry = new AbortController();
  const leaveCallers = async (): Promise<void> => {
    const atOnce = once(hurry.signal, 'abort');
    await Promise.race([leaving.run(hurry.signal), atOnce]).catch((error: unknown) =>
      log.error('the panel stops without sending its callers elsewhere', { error }),
    );
    // A hanging stop must not keep the process alive: everything acknowledged is already in the database.
    setTimeout(() => process.exit(1), PROCESS_STOP_LIMIT_MS).unref();
  };
  const end = (reason: string, code: number, restarting = false): void => {
    // Who asks twice does not want to wait for callers.
    if (ending) hurry.abort();
    if (ending) return;
    ending = true;
    void leaveCallers()
      .then(() => program.stop(reason, restarting))
      .then(
        () => process.exit(code),
        (error: unknown) => {
          log.error('the stop failed', { error });
          process.exit(1);
        },
      );
  };
  leave?.addEventListener('abort', () => end('another process takes over', 0, true));
  process.on('SIGTERM', () => end('SIGTERM', 0));
  process.on('SIGINT', () => end('SIGINT', 0));
  // For an upgrade: the next process adopts the core.
  process.on('SIGUSR2', () => end('SIGUSR2', 0, true));
  // Closing the terminal stops the panel and its core; a service reloads its certificate.
  process.on('SIGHUP', () => (onTerminal ? end('SIGHUP', 0) : void program.renewCertificate()));
  process.on('uncaughtException', (error) => {
    // Acknowledged data is in the database, and programs beside the panel must not suffer: exit at once, without a stop.
    const plugin = pluginThatThrew(error);
    if (!plugin) {
      log.error('uncaught error', { error });
      process.exit(1);
    }
    log.error('a plugin ended the process with an error that it did not catch', {
      plugin: plugin.name,
      exitCode: PLUGIN_ENDED_PROCESS,
      error,
    });
    recordEarlyExit(plugin, `it did not catch an error: ${messageOf(error)}`);
    process.exit(PLUGIN_ENDED_PROCESS);
  });
  process.on('unhandledRejection', (error) => {
    const plugin = pluginThatThrew(error);
    if (plugin && program.fault(plugin.name, 'an unhandled promise rejection', error)) return;
    log.error('unhandled promise rejection', { ...(plugin && { plugin: plugin.name }), error });
  });

  await program.start().catch(exitUnstarted);
}

/** The log of the process. Writes to standard output and standard error from elsewhere go through it, too. */
function openLog(readable: boolean, buffer: LogBuffer): Log {
  // Node makes a socket non-blocking when it creates the stream, so create the streams first.
  const { stdout, stderr } = process;
  const reportDropped = (output: string) => (lines: number, reason: string) =>
    log.warn('log lines were dropped, because they could not be written', { output, lines, reason });
  const output = new Output(1, reportDropped('standard output'));
  const errors = new Output(2, reportDropped('standard error'));
  const log = createLog({
    level: 'info',
    readable,
    write: (line) => output.write(line),
    keep: (line) => buffer.add(line),
  });
  redirect(stdout, output);
  redirect(stderr, errors);
  process.on('exit', () => {
    output.flush();
    errors.flush();
  });
  // Node itself would write warnings to standard error, and wait for its reader.
  process
    .removeAllListeners('warning')
    .on('warning', ({ name, message }) => log.warn('Node.js warns', { name, message }));
  return log;
}
