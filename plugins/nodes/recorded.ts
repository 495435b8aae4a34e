// How nodes are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringNodeSave } from './contract.js';

export const nodes = audited({
  area: 'node',
  hook: duringNodeSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.name ?? '',
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});
