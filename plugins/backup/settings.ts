import { bool, int, list, setting, text, inSection } from '../../kernel/index.js';
import { scheduleProblem } from './schedule/timetable.js';

const MOST_RECIPIENTS = 20;
const LEAST_PASSPHRASE = 12;
const kept = (most: number) => int().min(0).max(most);

export const backupSettings = inSection('Backups', {
  backupSchedule: setting(
    text()
      .max(32)
      .custom((value: string) => {
        const problem = scheduleProblem(value);
        if (problem !== undefined) throw new Error(problem);
        return value;
      }),
    '',
    'when backups are made: a time like 04:30, a time and a weekday like 04:30 sunday, or an interval of 1h to 31d; blank for never',
  ),
  backupKeepLast: setting(int().min(1).max(1_000), 7, 'newest backups that are kept', {
    when: { field: 'backupSchedule' },
  }),
  backupKeepDays: setting(kept(1_000), 7, 'days of which the newest backup is kept', {
    when: { field: 'backupSchedule' },
    level: 'advanced',
    unit: 'days',
  }),
  backupKeepWeeks: setting(kept(520), 4, 'weeks of which the newest backup is kept', {
    when: { field: 'backupSchedule' },
    level: 'advanced',
    unit: 'weeks',
  }),
  backupKeepMonths: setting(kept(240), 6, 'months of which the newest backup is kept', {
    when: { field: 'backupSchedule' },
    level: 'advanced',
    unit: 'months',
  }),
  backupRecipients: setting(
    list(text().max(4_096)).max(MOST_RECIPIENTS).unique(),
    [],
    'public keys of age, like age1…, that backups are encrypted for; only their secret keys open them',
    { section: 'Encryption', level: 'advanced' },
  ),
  backupPassphrase: setting(
    text()
      .max(1_024)
      .custom((value: string) => {
        if (value !== '' && value.length < LEAST_PASSPHRASE)
          throw new Error(`it must have at least ${LEAST_PASSPHRASE} characters`);
        if (value !== value.trim()) throw new Error('it must not begin or end with a space');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the file of --passphrase-file has one line
        if (/[\u0000-\u001f\u007f]/.test(value))
          throw new Error('it must be one line, without control characters');
        return value;
      }),
    '',
    'passphrase that backups are encrypted with, instead of public keys',
    { section: 'Encryption', secret: true },
  ),
  backupFolder: setting(
    text()
      .max(1_024)
      .custom((value: string) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one is a mistake
        if (value !== '' && (!value.startsWith('/') || /[\u0000-\u001f]/.test(value)))
          throw new Error('it must be an absolute path, like /mnt/backups');
        return value;
      }),
    '',
    'absolute path of a folder, on another disk or machine, to which backups are copied; blank for none',
    { section: 'Copies in a folder', level: 'advanced' },
  ),
  backupFolderRequired: setting(
    bool(),
    true,
    'whether that folder must already exist: a disk that is not mounted is then an error, and not a copy on the wrong disk',
    { section: 'Copies in a folder', level: 'advanced', when: { field: 'backupFolder' } },
  ),
});
