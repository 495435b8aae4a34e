import { defineErrors, int, list, openObject, shape, text } from '../../kernel/index.js';

const Conflicts = shape({
  conflicts: list(
    shape({
      id: text(),
      name: text(),
      fields: openObject().description(
        'by path of the field, the value as the entry left it and as it is now; of secrets only that they changed',
      ),
    }),
  ).description('the first 50'),
  count: int().description('of all'),
});

export const errors = defineErrors('audit', {
  NO_KEY: [409, 'the record of changes has lost its key'],
  NO_ENTRY: [404, 'there is no such entry'],
  TOO_OLD: [410, 'it is too old to be undone: what an undo needs is kept for the hours of auditUndoHours'],
  NOT_UNDOABLE: [422, 'this change cannot be undone'],
  UNDONE: [409, 'it was undone already'],
  CHANGED_SINCE: [
    409,
    'what it would set back was changed since; `obj.conflicts` has the fields as the entry left them and as they are now',
    Conflicts,
  ],
});
