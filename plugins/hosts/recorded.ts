// How host groups are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringHostSave, type HostGroup } from './contract.js';

function hostFacts(group: HostGroup | undefined): object | undefined {
  if (!group) return undefined;
  const { fields, rows } = group;
  return { ...fields, addresses: rows.map(({ id: _id, createdAt: _createdAt, ...row }) => row) };
}

export const hosts = audited({
  area: 'host',
  hook: duringHostSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.fields.remark ?? '',
    id: (after ?? before)?.groupId ?? '',
    before: hostFacts(before),
    after: hostFacts(after),
  }),
});
