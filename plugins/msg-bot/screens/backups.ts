// Sends a backup as a file.
import { open } from 'node:fs/promises';
import type { Principal } from '../../../kernel/index.js';
import type { BackupsApi } from '../../backup/contract.js';
import { MOST_FILE } from '../api/transport.js';
import type { OutgoingFile } from '../api/bot-api.js';
import { Declined, type Screen } from '../chat/screen.js';
import type { Texts } from '../texts/texts.js';
import { type Parts, running } from './parts.js';

export interface BackupFile {
  readonly file: OutgoingFile;
  readonly facts: { readonly name: string; readonly bytes: number; readonly isEncrypted: boolean };
}

/** Makes a backup and reads it. Throws Declined for one that is too large for a chat. */
export async function backupFile(backups: BackupsApi, who: Principal, texts: Texts): Promise<BackupFile> {
  const facts = await backups.make(who);
  const { name, bytes: size } = facts;
  if (size > MOST_FILE)
    throw new Declined('backupTooLarge', { name, size: texts.bytes(size), most: texts.bytes(MOST_FILE) });
  const opened = await facts.open();
  try {
    const handle = await open(opened.path);
    try {
      // The size of what is read is that of the list, whatever happens to the file.
      const bytes = Buffer.alloc(size);
      const { bytesRead } = await handle.read(bytes, 0, size, 0);
      if (bytesRead !== size) throw new Error('the backup is shorter than the list says');
      return { file: { name, bytes }, facts };
    } finally {
      await handle.close();
    }
  } finally {
    await opened.close();
  }
}

export const backupCaption = (texts: Texts, { name, bytes, isEncrypted }: BackupFile['facts']): string =>
  texts.html('backupFile', { name, size: texts.bytes(bytes), encrypted: isEncrypted ? 'yes' : 'no' });

export const backupScreen = ({ backups }: Parts): Screen => ({
  for: 'admin',
  actions: {
    backup: async (turn) => {
      const maker = running(backups, 'backup');
      await turn.notice('');
      await turn.say([turn.texts.html('backupStarted')]);
      const { file, facts } = await backupFile(maker, turn.who, turn.texts);
      await turn.document(file, backupCaption(turn.texts, facts));
    },
  },
});
