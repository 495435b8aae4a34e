// Connects to the servers of an outbound over TCP, and says nothing to them.
import { connect } from 'node:net';
import type { Server } from './outbound-json.js';

export interface Endpoint {
  /** host and port */
  readonly address: string;
  readonly success: boolean;
  /** ms */
  readonly delay: number;
  readonly error?: string;
}

const LIMIT_MS = 5_000;

/** Never rejects. */
export function dial({ host, port }: Server, limit = LIMIT_MS): Promise<Endpoint> {
  const start = performance.now();
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve) => {
    const connection = connect({ host: host.replace(/^\[|\]$/g, ''), port });
    const end = (error?: string): void => {
      clearTimeout(timer);
      connection.destroy();
      const delay = Math.round(performance.now() - start);
      resolve(
        error === undefined
          ? { address, success: true, delay }
          : { address, success: false, delay: 0, error },
      );
    };
    const timer = setTimeout(() => end(`no answer within ${limit / 1000} s`), limit);
    connection.once('connect', () => end());
    connection.on('error', ({ message }) => end(message));
  });
}
