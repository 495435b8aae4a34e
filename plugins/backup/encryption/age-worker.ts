// The thread of one encryption; see encryptInThread.
import { parentPort, workerData } from 'node:worker_threads';
import { type Encryption, encryptFile, type WrittenFile } from './age-file.js';

export interface EncryptionTask {
  readonly from: string;
  readonly to: string;
  readonly encryption: Encryption;
}
export type EncryptionResult = WrittenFile | { readonly problem: string };

const { from, to, encryption } = workerData as EncryptionTask;
parentPort?.postMessage(
  await encryptFile(from, to, encryption).catch(
    (error: unknown): EncryptionResult => ({ problem: error instanceof Error ? error.message : 'unknown' }),
  ),
);
