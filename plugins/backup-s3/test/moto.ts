// A server of moto, which imitates AWS. `npm run test:full` installs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../test/harness/index.js';

/** Command of the server, or a failure with the reason. */
export function motoCommand(env: NodeJS.ProcessEnv): string {
  const { WEIR_TEST_MOTO: command, WEIR_TEST_MOTO_MISSING: missing } = env;
  if (command) return command;
  throw new Error(missing || 'moto is missing; `npm run test:full` installs it');
}

export interface Moto {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Runs until the test is over. */
export async function startMoto(t: ExecutionContext): Promise<Moto> {
  const port = await freePort();
  const child = spawn(motoCommand(process.env), ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' });
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  for (let n = 0; n < 300; n++) {
    if (child.exitCode !== null) throw new Error(`moto ended with the code ${child.exitCode}`);
    const reply = await fetch(`${url}/moto-api/`).catch(() => undefined);
    if (reply) return { url, process: child };
    await sleep(100);
  }
  throw new Error('moto does not answer');
}
