// How roles are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringRoleSave } from './contract.js';

export const roles = audited({
  area: 'role',
  hook: duringRoleSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.name ?? '',
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});
