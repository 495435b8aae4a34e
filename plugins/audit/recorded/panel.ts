import { duringAdminSave, duringTokenSave } from '../../access/contract.js';
import { duringSettingsSave } from '../../settings/contract.js';
import { audited } from '../contract.js';

export const admins = audited({
  area: 'admin',
  hook: duringAdminSave,
  // Every change of an admin also sets a password.
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.username ?? '',
    before: before && { ...before, password: 'before' },
    after: after && { ...after, password: 'after' },
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
