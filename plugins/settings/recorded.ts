// How settings are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringSettingsSave } from './contract.js';

export const settings = audited({
  area: 'setting',
  hook: duringSettingsSave,
  describe: ({ name, before, after, secret }) => ({
    kind: 'updated',
    name,
    // The values of a secret are blank here; the name tells that it changed.
    before: secret ? { secret: 'before' } : { value: before },
    after: secret ? { secret: 'after' } : { value: after },
  }),
});
