// Checks passwords against hashes of bcrypt, which other panels store, in a thread: one check blocks for a tenth of a second.
import { Worker } from 'node:worker_threads';
import type { BcryptTask } from './bcrypt-worker.js';

/** A cost above 14 takes seconds, which others would wait for. */
const BCRYPT = /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/;

export const isBcrypt = (hash: string): boolean => BCRYPT.test(hash);

export function verifyBcrypt(hash: string, password: string): Promise<boolean> {
  const task: BcryptTask = { password, hash };
  const worker = new Worker(new URL('./bcrypt-worker.js', import.meta.url), {
    workerData: task,
    execArgv: [],
  });
  return new Promise<boolean>((resolve, reject) => {
    worker.on('message', (isRight: boolean) => resolve(isRight));
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the thread that checks a password ended')));
  });
}
