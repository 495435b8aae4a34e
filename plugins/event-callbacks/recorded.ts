// How endpoints are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringEndpointSave } from './contract.js';

export const endpoints = audited({
  area: 'eventCallback',
  hook: duringEndpointSave,
  // Services that take callbacks put their key into the address.
  secret: ['url'],
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.description || ((after ?? before)?.id ?? ''),
    id: (after ?? before)?.id ?? '',
    before,
    after,
  }),
});
