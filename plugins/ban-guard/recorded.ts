// How bans by an admin are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringBanSave } from './contract.js';

export const bans = audited({
  area: 'ban',
  hook: duringBanSave,
  describe: ({ kind, before, after }) => {
    const { address = '', scope = 'proxy' } = after ?? before ?? {};
    return { kind, name: address, id: `${scope} ${address}`, before, after };
  },
});
