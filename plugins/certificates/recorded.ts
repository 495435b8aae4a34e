// How certificates are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringCertificateSave } from './contract.js';

export const certificates = audited({
  area: 'certificate',
  hook: duringCertificateSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.names[0] ?? '',
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});
