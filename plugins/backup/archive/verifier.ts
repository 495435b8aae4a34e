// Verifies a backup by restoring it: a rehearsal in a process of its own, on a scratch database that is thrown away.
import type { Decryption, PanelDatabaseApi } from '../contract.js';
import { NO_DECRYPTION } from '../encryption/age-file.js';
import { errors } from '../errors.js';
import { digestOf } from './digest.js';
import type { Manifest, Verification } from './record.js';

const MOST_PROBLEM = 2_000;
/** Says nothing about the backup: there was no room for the scratch database. */
const NO_ROOM = /ENOSPC|EDQUOT|SQLITE_FULL|disk is full|no space left/i;
export const isFullDisk = (problem: string): boolean => NO_ROOM.test(problem);
/** Of sentences of a restore: the file is the one that was written, but the key of the caller is another one. */
const WRONG_KEY = /it was encrypted for another/;
/**
 * The process was killed, as where memory runs out, or took too long; `secrets.key` was rotated since; another release or
 * other plugins are here now.
 */
const NOT_ITS_FAULT =
  /^the process of the rehearsal did not finish|secrets are sealed with the key|these migrations are unknown here/;

type Checked = Pick<Manifest, 'bytes' | 'sha256' | 'encryption' | 'counts'>;

/** Work that cannot be interrupted is left to end by itself when the panel stops. */
export async function untilStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}

/** Restores it and throws the result away. Resolves with why it cannot be restored; blank if it can. */
export async function restoreProblem(
  database: PanelDatabaseApi,
  path: string,
  { clients, inbounds }: Pick<Manifest['counts'], 'clients' | 'inbounds'>,
  signal: AbortSignal,
  decryption: Decryption = NO_DECRYPTION,
): Promise<string> {
  const rehearsing = database
    .rehearse({ path, keep: [], keys: [], decryption, isTrial: true })
    .then(async (result) => {
      await database.discard(result.folder);
      return result;
    });
  const { problem, rows } = await untilStopped(rehearsing, signal);
  if (problem !== '') return problem.slice(0, MOST_PROBLEM);
  for (const [table, expected] of [
    ['clients', clients],
    ['inbounds', inbounds],
  ] as const)
    if ((rows[table] ?? 0) !== expected)
      return `it has ${rows[table] ?? 0} ${table} after a restore, and its record says ${expected}`;
  return '';
}

/** Compares the file with its record, and restores it if it can be opened. */
export async function verify(
  database: PanelDatabaseApi,
  path: string,
  manifest: Checked,
  { decryption, at, signal }: { decryption: Decryption; at: number; signal: AbortSignal },
): Promise<Verification> {
  const failed = (problem: string): Verification => ({ state: 'failed', at, method: 'digest', problem });
  const found = await digestOf(path, signal);
  if (found.bytes !== manifest.bytes)
    return failed(`the file has ${found.bytes} bytes, and its record says ${manifest.bytes}`);
  if (found.sha256 !== manifest.sha256)
    return failed('the file has changed: its SHA-256 is not that of its record');
  const canOpen =
    manifest.encryption === '' || decryption.passphrase !== '' || decryption.identities.length > 0;
  if (!canOpen) return { state: 'verified', at, method: 'digest', problem: '' };
  const problem = await restoreProblem(database, path, manifest.counts, signal, decryption);
  if (isFullDisk(problem)) throw new Error(`there is no room for the scratch database: ${problem}`);
  // The file is as it was made, so none of these says anything about it: a backup that counts as failed would be deleted.
  if (WRONG_KEY.test(problem)) throw errors.WRONG_KEY();
  if (NOT_ITS_FAULT.test(problem)) throw new Error(problem);
  return { state: problem === '' ? 'verified' : 'failed', at, method: 'restored', problem };
}
