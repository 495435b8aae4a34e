// Follows a restore over the restart of the panel.
import type { BackupLastRestoreReply } from '../../../../sdk/index.js';
import { PanelFailure, PanelUnreachable } from '../../../../sdk/failure.js';

export interface Watch {
  /** when the restore was asked for, by the clock of the panel: of the last restore before it, or 0 */
  readonly since: number;
  readonly last: () => Promise<BackupLastRestoreReply>;
  readonly pause: (ms: number) => Promise<void>;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;

/** While the panel restarts, nobody answers, or a proxy answers for it. */
const isRestarting = (error: unknown): boolean =>
  error instanceof PanelUnreachable ||
  (error instanceof PanelFailure && (error.code === '' || error.status >= 500));

/** Resolves when a newer restore than `since` is over. A call that a proxy refuses, or that nobody answers, is made again. */
export async function restoreOver({
  since,
  last,
  pause,
}: Watch): Promise<NonNullable<BackupLastRestoreReply>> {
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 1.5, LONGEST_MS)) {
    try {
      const restore = await last();
      if (restore && restore.at > since && restore.state !== 'under way') return restore;
    } catch (error) {
      if (!isRestarting(error)) throw error;
    }
    await pause(wait);
  }
}
