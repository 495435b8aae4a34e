// Ready-made probes.
import { access } from 'node:fs/promises';
import { connect, type NetConnectOpts } from 'node:net';
import { resolve } from 'node:path';
import { readTail } from './log-file.js';

export interface Probed {
  readonly pid: number;
  /** its own folder */
  readonly folder: string;
  /** file with its output; bytes before `logFrom` are from earlier processes */
  readonly log: string;
  /** bytes */
  readonly logFrom: number;
  /** the process is being adopted, and a previous panel found it ready */
  readonly adopted: boolean;
  /** aborted when the answer is no longer needed */
  readonly signal: AbortSignal;
}
/** True: the process serves. False, or an error: not yet; after the time limit, the reason contains the error's message. */
export type Probe = (process: Probed) => boolean | Promise<boolean>;

function connects(options: NetConnectOpts, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const connection = connect({ ...options, signal } as NetConnectOpts);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', reject);
    connection.once('close', () => resolve(false));
  });
}

/**
 * Checks that it listens: on a TCP port (host 127.0.0.1 by default), or on a Unix socket (a relative path is in its folder,
 * an absolute one has at most 107 bytes). It cannot tell the process from another program that listens there.
 */
export const listensOn =
  (place: { readonly port: number; readonly host?: string } | { readonly socket: string }): Probe =>
  ({ signal, folder }) =>
    connects(
      'socket' in place
        ? { path: resolve(folder, place.socket) }
        : { host: place.host ?? '127.0.0.1', port: place.port },
      signal,
    );

/** Checks that it answers HTTP requests with any status below 500. */
export const answersHttp =
  (url: string): Probe =>
  async ({ signal }) => {
    const answer = await fetch(url, { signal, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status < 500;
  };

/** Checks that a file exists, such as a pid file; a relative path is in its own folder. A file of an earlier process counts too. */
export const fileIsThere =
  (path: string): Probe =>
  ({ folder }) =>
    access(resolve(folder, path)).then(() => true);

/** Checks that its last 64 KiB of output match, or that a previous panel has seen the match. */
export const logSays =
  (pattern: RegExp): Probe =>
  async ({ log, logFrom, adopted }) =>
    adopted ||
    // A pattern with the flag g or y would keep its position.
    new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')).test(await readTail(log, logFrom));
