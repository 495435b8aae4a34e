// The thread of one check; see bcrypt-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

export interface BcryptTask {
  readonly password: string;
  readonly hash: string;
}

const { password, hash } = workerData as BcryptTask;
parentPort?.postMessage(compareSync(password, hash));
