// Encrypts in a thread: the derivation of a key from a passphrase blocks for a second and takes 256 MiB.
import { Worker } from 'node:worker_threads';
import type { Encryption, WrittenFile } from './age-file.js';
import type { EncryptionResult, EncryptionTask } from './age-worker.js';

const LIMIT_MB = 512;

/** Resolves when the encrypted copy is on the disk. Rejects with a sentence. */
export function encryptInThread(
  from: string,
  to: string,
  encryption: Encryption,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  signal?.throwIfAborted();
  const task: EncryptionTask = { from, to, encryption };
  const worker = new Worker(new URL('./age-worker.js', import.meta.url), {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MB },
  });
  return new Promise<WrittenFile>((resolve, reject) => {
    const end = (settle: () => void): void => {
      signal?.removeEventListener('abort', stop);
      void worker.terminate();
      settle();
    };
    const fail = (reason: string): void =>
      end(() => reject(new Error(`the backup cannot be encrypted: ${reason}`)));
    const stop = (): void => end(() => reject(signal?.reason as Error));
    signal?.addEventListener('abort', stop, { once: true });
    worker.on('message', (result: EncryptionResult) =>
      'problem' in result ? fail(result.problem) : end(() => resolve(result)),
    );
    worker.on('error', (error) => fail(error.message));
    worker.on('exit', () => fail('the thread ended'));
  });
}
