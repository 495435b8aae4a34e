// A server that is cut off without a word leaves connections on which statements wait for a quarter of an hour.
import type { Socket } from 'node:net';
import type { MysqlConnection } from '../../tables/connection.js';

/** Longer than a statement of a running panel takes. */
const STALLED_MS = 30_000;

/** Undocumented, but mysql2 says in no other way whether a statement runs; without it an idle connection would be broken. */
type Inside = MysqlConnection & { readonly stream: Socket; readonly _command?: object };

/** Breaks the connection when a statement waits and no byte comes for this long; the statement then fails as with a lost connection. */
export function endWhenStalled(connection: MysqlConnection, ms = STALLED_MS): void {
  const { stream } = connection as Inside;
  stream.setTimeout(ms);
  stream.on('timeout', () => {
    if ((connection as Inside)._command) stream.destroy();
  });
}

/** For statements that may take as long as they need, such as those of a migration. */
export async function withoutLimit<T>(connection: MysqlConnection, work: () => Promise<T>): Promise<T> {
  const { stream } = connection as Inside;
  stream.setTimeout(0);
  return work().finally(() => stream.setTimeout(STALLED_MS));
}
