// How fallbacks are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringFallbackSave } from './contract.js';

export const fallbacks = audited({
  area: 'fallback',
  hook: duringFallbackSave,
  describe: ({ masterId, before, after }) => ({
    kind: 'updated',
    name: '',
    id: masterId,
    before: { fallbacks: before.map(({ id: _id, ...fallback }) => fallback) },
    after: { fallbacks: after },
  }),
});
