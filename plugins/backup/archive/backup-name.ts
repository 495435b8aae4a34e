// Names of backups that the panel makes by itself. Nothing else in a folder or bucket is ever read, replaced or deleted.
import { stamp } from '../file-name.js';

const NAME = /^weir_\d{4}-\d{2}-\d{2}_\d{6}(?:-\d{1,3})?\.db(?:\.age)?$/;
export const NAME_PATTERN = NAME;
const RECORD_ENDING = '.json';
export const LONGEST_NAME = 64;

export const isBackupName = (name: string): boolean => NAME.test(name);
/** `weir_2026-11-23_040000.db`; the number differs where one of this second is already there. */
export const backupName = (at: Date, isEncrypted: boolean, number = 0): string =>
  `weir_${stamp(at)}${number === 0 ? '' : `-${number}`}.db${isEncrypted ? '.age' : ''}`;
/** The file beside it that describes it. */
export const recordNameOf = (name: string): string => `${name}${RECORD_ENDING}`;
/** The backup that a record describes; undefined for other files. */
export function describedBy(fileName: string): string | undefined {
  if (!fileName.endsWith(RECORD_ENDING)) return undefined;
  const name = fileName.slice(0, -RECORD_ENDING.length);
  return isBackupName(name) ? name : undefined;
}
