import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('backup', {
  BUSY: [409, 'other copies of the database are under way; try again when they are done'],
  NO_PROGRAM: [503, 'the panel runs inside another program, which does not hand out its database'],
  NOT_COPIED: [507, 'the database cannot be copied'],
  RESTORING: [409, 'another restore is under way; try again when it is done'],
  NOT_RESTORED: [422, 'the backup cannot be restored; nothing was changed'],
  NEEDS_KEY: [
    422,
    'the backup has values that are encrypted with another key: send the secrets.key of its panel as `secretsKey`, or with `weir restore --key`; nothing was changed',
  ],
  NOT_MADE: [507, 'the backup cannot be made'],
  AT_WORK: [409, 'another backup is being made, verified, copied or deleted; try again when that is done'],
  UNKNOWN: [404, 'there is no backup of this name; the list has all of them'],
  UNKNOWN_PLACE: [404, 'there is no such place; the status names all of them'],
  PLACE_OFF: [409, 'this target is not set up'],
  LAST_VERIFIED: [
    409,
    'this is the newest verified backup in this place; make another one first, or send `force` to delete it',
  ],
  WRONG_KEY: [
    422,
    'neither the identity nor the passphrase opens this backup; it was encrypted for another. Nothing was changed: the backup counts as before',
  ],
  CHANGED: [
    422,
    'the file is not the one that was backed up: its SHA-256 is not that of its record; nothing was changed',
  ],
  NOT_VERIFIED: [507, 'the backup could not be verified now'],
  TARGET_FAILED: [502, 'the target failed'],
  TOO_LARGE: [413, 'the copy is too large for JSON; leave out `Accept: application/json` to get a file'],
});
