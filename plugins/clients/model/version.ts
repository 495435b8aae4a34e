// What two people may edit of a client at once, for its version. Counters are no part of it.
import { RecordVersions } from '../../record-versions/contract.js';
import { sentFields } from './fields.js';
import type { ClientRow } from './row.js';

export const clientVersion = new RecordVersions<ClientRow>((row) => [
  ...sentFields.map((name) => row[name]),
  row.inboundIds,
  row.credentials === null ? null : [...row.credentials],
]);
