import { defineErrors, openObject, shape, text } from '../../kernel/index.js';

const Changed = shape({
  current: openObject().description('the record as its GET shows it'),
  version: text().description('that of `current`; send it as If-Match to overwrite what is there'),
});

export const errors = defineErrors('record-versions', {
  CHANGED: [409, 'the record has changed since this version; `obj.current` is what it is now', Changed],
  IF_MATCH: [400, 'If-Match must be a version as the record shows it, in double quotes, or *'],
  NO_VERSIONS: [
    400,
    'this endpoint knows no versions, so it cannot keep to If-Match; send the call without the header',
  ],
});
