import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('node-agent', {
  BUSY: [503, 'bytes are being counted all the time; ask again'],
  OWN_GUID: [400, 'central is the guid of this panel itself; a panel cannot manage itself'],
  UNKNOWN_CENTRAL: [404, 'no central with this guid has ever changed anything here'],
  TOO_MANY_CENTRALS: [409, 'sixteen panels manage this one already; release one of them'],
  NO_EPOCH: [404, 'this panel has no such epoch; it was acknowledged, or is too old'],
});
