// Versions of records: replies show them, and an update with `If-Match` is done only if its record still has that version.
import { type Route, text } from '../../kernel/index.js';
import { errors } from './errors.js';

export { errors as versionErrors } from './errors.js';
export { canonical } from './digest.js';
export { IF_MATCH_PATTERN } from './if-match.js';
export { RecordVersions, type Versioned } from './record-versions.js';

/** The field of a reply. */
export const version = () =>
  text().description('changes with what people can edit; send it as If-Match: "…" with an update');

/** Whether a route takes If-Match. */
export const takesVersions = (route: Pick<Route, 'errors'>): boolean => route.errors.includes(errors.CHANGED);
