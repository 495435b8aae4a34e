// How admins and API tokens are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringAdminSave, duringTokenSave } from './contract.js';

export const admins = audited({
  area: 'admin',
  hook: duringAdminSave,
  describe: ({ kind, before, after, setsPassword }) => ({
    kind,
    name: (after ?? before)?.username ?? '',
    before: before && { ...before, ...((setsPassword || !after) && { password: 'before' }) },
    after: after && { ...after, ...(setsPassword && { password: 'after' }) },
  }),
});

export const tokens = audited({
  area: 'token',
  hook: duringTokenSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.name ?? '',
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});
