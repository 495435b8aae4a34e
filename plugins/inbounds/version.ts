// What two people may edit of an inbound at once, for its version and for an undo. Its clients have versions of their own.
import { RecordVersions } from '../record-versions/contract.js';
import { hiddenNames, type Inbound, without } from './fields.js';

export const editedOf = (inbound: Inbound) =>
  without(inbound, ['id', 'lastTrafficResetTime', 'depletedCause', ...hiddenNames]);
export const inboundVersion = new RecordVersions<Inbound>(editedOf);
