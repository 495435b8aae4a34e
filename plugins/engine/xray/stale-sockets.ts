// A core that was killed leaves the files of its Unix sockets, and no core can listen there until they are gone.
import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { socketName } from '../../core-guard/contract.js';
import type { CoreInbound } from '../driver.js';

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = connect(path);
    connection.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
  });

/** Removes the sockets of these inbounds on which nobody listens. Call it when no core runs that could listen there. */
export async function removeStaleSockets(inbounds: readonly Pick<CoreInbound, 'config'>[]): Promise<void> {
  for (const { config } of inbounds) {
    const path = socketName(config['listen']);
    // An abstract name is no file.
    if (path === undefined || path.startsWith('@')) continue;
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSocket() && !(await answers(path))) await rm(path, { force: true });
  }
}
