// Two settings that name a certificate and its key: checked before they are saved.
import { text } from '../../kernel/index.js';
import { PairProblem, readPair } from './pair-files.js';

/** Path of such a file; empty for none. */
export const pairFile = () =>
  text()
    .max(4096)
    .pattern(/^(?:\/[^\p{Cc}]*)?$/u, 'an absolute path');

/** Names of the settings. */
export interface PairSettings {
  readonly certificate: string;
  readonly key: string;
}
/** Makes the error for a setting; `message` begins with its name. */
type Refusal = (message: string, more: { readonly path: string; readonly cause?: unknown }) => Error;

/** Rejects with the refusal for the setting whose file is unusable. */
export async function withSetting<T>(names: PairSettings, refusal: Refusal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof PairProblem)) throw cause;
    const path = names[cause.part];
    throw refusal(`${path}: ${cause.message}`, { path, cause });
  }
}

/** Refuses files that are no pair, and one without the other. Two empty settings are fine. */
export async function refuseBadPair(
  names: PairSettings,
  { changes, values }: Record<'changes' | 'values', Readonly<Record<string, unknown>>>,
  refusal: Refusal,
): Promise<void> {
  if (!(names.certificate in changes) && !(names.key in changes)) return;
  const [certFile, keyFile] = [String(values[names.certificate] ?? ''), String(values[names.key] ?? '')];
  if (certFile === '' && keyFile === '') return;
  if (certFile === '' || keyFile === '') {
    const path = certFile === '' ? names.certificate : names.key;
    throw refusal(`${path} is missing: a certificate and its key belong together`, { path });
  }
  await withSetting(names, refusal, readPair(certFile, keyFile));
}
