// What is known about a backup without opening it: its manifest and how it was verified. A file `<name>.json` beside it.
import {
  inspect,
  int,
  list,
  mapOf,
  num,
  oneOf,
  shape,
  type Static,
  text,
  word,
} from '../../../kernel/index.js';
import { NAME_PATTERN, LONGEST_NAME } from './backup-name.js';

export const FORMAT = 1;
/** A release has a few hundred migrations. */
const MOST_MIGRATIONS = 5_000;
export const MOST_RECORD_BYTES = 512 * 1024;

const sha256 = () => text().pattern(/^[0-9a-f]{64}$/);
const count = () => int().min(0);
export const BackupName = () =>
  word().max(LONGEST_NAME).pattern(NAME_PATTERN, 'name of a backup in the list');

export const manifest = shape({
  format: int().description('1'),
  name: BackupName(),
  guid: word().max(64).description('of the panel that made it'),
  createdAt: count().description('Unix ms at which the copy began'),
  release: text().max(64).description('of the panel'),
  by: oneOf('schedule', 'admin').description('who started it'),
  encryption: oneOf('', 'recipients', 'passphrase').description('blank: none'),
  recipients: list(text().max(4096)).max(20).description('public keys that it is encrypted for'),
  bytes: count().description('of the file'),
  sha256: sha256().description('of the file'),
  contentBytes: count().description('before encryption'),
  contentSha256: sha256().description('before encryption'),
  migrations: list(text().max(256)).max(MOST_MIGRATIONS).description('plugin/name'),
  counts: shape({
    clients: count(),
    inbounds: count(),
    up: num().min(0).description('bytes of all clients'),
    down: num().min(0).description('bytes of all clients'),
  }),
});
export type Manifest = Static<typeof manifest>;

export const verification = shape({
  state: oneOf('verified', 'failed').description(
    'verified: restored into a scratch database, without a mistake',
  ),
  at: count().description('Unix ms of the last verification'),
  method: oneOf('restored', 'digest').description(
    'digest: the content of an encrypted file was restored before it was encrypted, and the file was compared with its SHA-256 since',
  ),
  problem: text().max(4096).description('why it failed; blank else'),
});
export type Verification = Static<typeof verification>;

const copy = shape({
  at: count().description('Unix ms of the last attempt'),
  place: text().max(500).description('folder or bucket'),
  problem: text().max(4096).description('why there is no complete copy; blank if there is one'),
});

const fields = {
  manifest,
  verification,
  copies: mapOf(copy).max(20).description('by target: the copy there, which was read back'),
};
export const backupRecord = shape(fields);
export type BackupRecord = Static<typeof backupRecord>;

/** A record in a list, with what is wrong with its file now. */
export const listedBackup = shape({
  ...fields,
  problem: text().description('why the file is not the one that its record describes; blank if it is'),
});
export type ListedBackup = Static<typeof listedBackup>;

/** Throws a sentence where it is not the record of a backup of this name. */
export function readRecord(bytes: string, name: string): BackupRecord {
  if (Buffer.byteLength(bytes) > MOST_RECORD_BYTES)
    throw new Error('it is too large for the record of a backup');
  let value: unknown;
  try {
    value = JSON.parse(bytes);
  } catch {
    throw new Error('it is not valid JSON');
  }
  const result = inspect(backupRecord, value);
  if ('issues' in result)
    throw new Error(
      result.issues
        .map(({ message }) => message)
        .join('; ')
        .slice(0, 300),
    );
  const record = result.value as BackupRecord;
  if (record.manifest.format !== FORMAT)
    throw new Error(`its format is ${record.manifest.format}, and this release reads ${FORMAT}`);
  if (record.manifest.name !== name) throw new Error(`it describes ${record.manifest.name}`);
  return record;
}

export const isVerified = ({ verification: { state } }: BackupRecord): boolean => state === 'verified';
