// Runs a program to its end and collects what it prints.
import { spawn } from 'node:child_process';

const MOST_OUTPUT = 1024 * 1024;

export interface Ended {
  readonly code: number;
  /** standard output, its end if it is long */
  readonly said: string;
  /** standard error, its end if it is long */
  readonly complained: string;
}

/** Rejects when it cannot be started or takes too long. */
export function runProgram(command: string, args: readonly string[], limitMs: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    let said = '';
    let complained = '';
    child.stdout.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MOST_OUTPUT)));
    child.stderr.on(
      'data',
      (chunk: Buffer) => (complained = (complained + chunk.toString()).slice(-MOST_OUTPUT)),
    );
    child.on('error', (cause) =>
      reject(new Error(`${command} could not be started: ${cause.message}`, { cause })),
    );
    child.on('close', (code, signal) =>
      signal === null
        ? resolve({ code: code ?? 1, said, complained })
        : reject(
            new Error(`${command} ${args.join(' ')} was killed by ${signal}; it may have taken too long`),
          ),
    );
  });
}
