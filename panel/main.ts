// The panel's process: boots, tells where it is, ends on a signal.
import { setFlagsFromString } from 'node:v8';
import { messageOf } from '../kernel/errors/errors.js';
import type { KernelOptions } from '../kernel/kernel.js';
import { createLog } from '../kernel/log/log.js';
import { PluginError } from '../kernel/plugin/order.js';
import { Program } from './program.js';
import { ConfigError } from './variables.js';

const STOP_LIMIT_MS = 9_500;
// V8 lets a heap grow to four times what is alive in it before it looks for what is not; to twice is as fast, and a third
// of the memory less after thousands of clients were made (docs/benchmarks.md).
const HEAP_FLAG = '--heap-growing-percent=100';

/** `limits` are for tests, which do not wait as long. */
export async function main({ limits = {} }: Pick<KernelOptions, 'limits'> = {}): Promise<void> {
  setFlagsFromString(HEAP_FLAG);
  // Whatever the panel and the programs that it starts write, the core's logs among it, is their user's alone.
  process.umask(0o077);
  const readable = Boolean(process.stdout.isTTY);
  const log = createLog({ level: 'info', readable, write: (line) => process.stdout.write(line) });
  const lost = (error: unknown): void => {
    const forPeople =
      error instanceof ConfigError || (error instanceof PluginError && error.cause === undefined);
    log.error(
      'the panel could not start',
      forPeople ? { problem: error.message } : { problem: messageOf(error), error },
    );
    process.exit(ending ? 0 : 1);
  };
  const program = new Program({ env: process.env, log, readable, limits, lost });
  let ending = false;

  const end = (reason: string, code: number): void => {
    if (ending) return;
    ending = true;
    // What hangs must not keep the process: everything acknowledged is in the database already.
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    void program.stop(reason).then(
      () => process.exit(code),
      (error: unknown) => {
        log.error('the stop failed', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => end('SIGTERM', 0));
  process.on('SIGINT', () => end('SIGINT', 0));
  // Who hangs up a terminal wants the panel to end; a service is asked to read again what may have changed.
  if (!readable) process.on('SIGHUP', () => void program.renewCertificate());
  process.on('uncaughtException', (error) => {
    // What was acknowledged is in the database, and what runs beside us shall not suffer: end at once, without a stop.
    log.error('uncaught error', { error });
    process.exit(1);
  });
  process.on('unhandledRejection', (error) => log.error('a promise failed and nobody noticed', { error }));

  await program.start().catch(lost);
}
