// Ready-made answers to the question whether a process serves.
import { access } from 'node:fs/promises';
import { connect, type NetConnectOpts } from 'node:net';
import { resolve } from 'node:path';
import { readTail } from './log-file.js';

export interface Probed {
  readonly pid: number;
  /** its own folder */
  readonly folder: string;
  /** file with what it writes; what comes before `logFrom` is of earlier processes */
  readonly log: string;
  /** bytes */
  readonly logFrom: number;
  /** the process is being adopted, and a previous panel found it ready */
  readonly adopted: boolean;
  /** aborted when nobody waits for the answer any more */
  readonly signal: AbortSignal;
}
/** True: it serves. False, or an error: not yet; the error's message is in the reason when the time is over. */
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
 * It listens: on a TCP port (of 127.0.0.1 unless told), or on a Unix socket (a relative path is one in its own folder,
 * an absolute one has at most 107 bytes). Another program that listens there is taken for it.
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

/** It answers to HTTP, with any status below 500. */
export const answersHttp =
  (url: string): Probe =>
  async ({ signal }) => {
    const answer = await fetch(url, { signal, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status < 500;
  };

/** A file is there, such as a pid file; a relative path is one in its own folder. What an earlier process left counts as well. */
export const fileIsThere =
  (path: string): Probe =>
  ({ folder }) =>
    access(resolve(folder, path)).then(() => true);

/** It has written this, within its last 64 KiB, or a previous panel has read it. */
export const logSays =
  (pattern: RegExp): Probe =>
  async ({ log, logFrom, adopted }) =>
    adopted ||
    // A pattern with the flag g or y would remember where it was.
    new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')).test(await readTail(log, logFrom));
