// The process exits only when the program around the panel decides so. If a plugin's code ends it, the log names the
// plugin and the exit code says that something failed: a service manager would take 0 for a normal exit.
import type { Log } from '../kernel/log/log.js';
import { type PluginFiles, pluginIn } from './plugin-files.js';

/** "internal software error" of sysexits.h */
export const PLUGIN_ENDED_PROCESS = 70;
/** Key on `process` of an exit function without these checks, for the watching thread. */
export const END = Symbol.for('weir.end');
const PROGRAM = new URL('./', import.meta.url).href;
const DEEPEST = 50;
/** These signals end nothing: the panel handles the first, and Node the second. */
const HARMLESS: readonly unknown[] = [0, 'SIGHUP', 'SIGUSR1', 'SIGCONT', 'SIGWINCH'];

type Exit = (code?: number | string | null) => never;
interface Ends {
  exit: Exit;
  reallyExit: Exit;
  abort: () => never;
  kill: (pid: number, signal?: string | number) => true;
  [END]?: Exit;
}

/** As V8 writes it, however a plugin has changed stack traces. */
function stackBelow(called: (...args: never[]) => unknown): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: string } = {};
  Error.prepareStackTrace = undefined as never;
  Error.stackTraceLimit = DEEPEST;
  Error.captureStackTrace(holder, called);
  const { stack = '' } = holder;
  Error.prepareStackTrace = prepareStackTrace as never;
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

/** Guards every way to end this process; `ended` records which plugin did it. */
export function guardExit(log: Log, ended: (plugin: PluginFiles, how: string) => void): void {
  const own = process as unknown as Ends;
  const exit = own.exit.bind(process);
  const reallyExit = own.reallyExit.bind(process);
  const kill = own.kill.bind(process);
  let leaving = false;

  const leave: Exit = (code) => {
    leaving = true;
    return exit(code);
  };
  const refuse = (call: string, stack: string): never => {
    const plugin = pluginIn(stack);
    log.error(plugin ? 'a plugin ended the process' : 'code outside of the panel ended the process', {
      ...(plugin && { plugin: plugin.name }),
      call,
      exitCode: PLUGIN_ENDED_PROCESS,
      stack: stack
        .split('\n')
        .slice(1)
        .map((line) => line.trim()),
    });
    if (plugin) ended(plugin, `it called ${call}`);
    return leave(PLUGIN_ENDED_PROCESS);
  };

  own.exit = function guarded(code) {
    const stack = stackBelow(guarded);
    if (leaving || stack.split('\n')[1]?.includes(PROGRAM)) return leave(code);
    return refuse('process.exit()', stack);
  };
  own.reallyExit = function guarded(code) {
    return leaving ? reallyExit(code) : refuse('process.reallyExit()', stackBelow(guarded));
  };
  own.abort = function guarded() {
    return refuse('process.abort()', stackBelow(guarded));
  };
  own.kill = function guarded(pid, signal) {
    // 0 and the negative number mean the whole process group, which includes this process.
    const itself = [0, process.pid, -process.pid].includes(pid);
    return itself && !HARMLESS.includes(signal)
      ? refuse(`process.kill() with ${signal ?? 'SIGTERM'}`, stackBelow(guarded))
      : kill(pid, signal);
  };
  own[END] = reallyExit;
}
