// The binary's short commands: version, config test, conversion.
import { execFile } from 'node:child_process';
import { CoreRefused, CoreTooSlow, CoreUnreachable } from '../driver.js';
import { lastWords } from './failures.js';
import { coreEnvironment } from './environment.js';

export interface Command {
  readonly binary: string;
  readonly directory: string;
  readonly args: readonly string[];
  /** ms, then SIGKILL */
  readonly timeout: number;
}

/** What the operating system says of a disk that takes no more; the config is not at fault then. */
const DISK = /no space left on device|disk quota exceeded|read-only file system|input\/output error/i;

/**
 * Resolves with stdout. Rejects with CoreRefused when the command exited with a failure,
 * with CoreUnreachable when it could not be run, could not write or took too long.
 */
export function runCommand({ binary, directory, args, timeout }: Command): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      binary,
      args,
      {
        cwd: directory,
        env: coreEnvironment(directory),
        timeout,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (error.killed === true)
          return reject(
            new CoreTooSlow(`${binary} ${args[0]}: no result within ${timeout / 1000} s`, {
              cause: error,
            }),
          );
        if (typeof error.code !== 'number')
          return reject(new CoreUnreachable(`cannot run ${binary}: ${error.message}`, { cause: error }));
        const disk = DISK.exec(stderr)?.[0];
        if (disk !== undefined)
          return reject(new CoreUnreachable(`${binary} ${args[0]} cannot write: ${disk}`, { cause: error }));
        const reason =
          lastWords(`${stdout}\n${stderr}`) ?? `${binary} ${args[0]} ended with exit code ${error.code}`;
        return reject(new CoreRefused(reason, { cause: error }));
      },
    );
  });
}
