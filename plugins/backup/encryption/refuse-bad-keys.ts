// Keys of backups are checked when they are entered: with a wrong one, every backup would fail, or nobody could open it.
import { kernelErrors } from '../../../kernel/index.js';
import { recipientProblem } from './age-file.js';

/** Rejects with a 400 that names the field. */
export async function refuseBadKeys({
  changes,
  values,
}: {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
}): Promise<void> {
  const { backupRecipients: changed } = changes;
  for (const [i, recipient] of (Array.isArray(changed) ? (changed as string[]) : []).entries()) {
    const problem = await recipientProblem(recipient);
    if (problem !== undefined)
      throw kernelErrors.INVALID(`backupRecipients[${i}]: ${problem}`, { path: `backupRecipients[${i}]` });
  }
  if (!('backupRecipients' in changes) && !('backupPassphrase' in changes)) return;
  const { backupRecipients, backupPassphrase } = { ...values, ...changes };
  const isForKeys = Array.isArray(backupRecipients) && backupRecipients.length > 0;
  if (isForKeys && typeof backupPassphrase === 'string' && backupPassphrase !== '')
    throw kernelErrors.INVALID(
      'backupPassphrase and backupRecipients cannot be used at the same time; clear one of them',
      { path: 'backupPassphrase' },
    );
}
