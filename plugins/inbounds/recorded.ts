// How inbounds are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringInboundSave, type Inbound } from './contract.js';

function inboundFacts(inbound: Inbound | undefined): object | undefined {
  if (!inbound) return undefined;
  const { id: _id, ...fields } = inbound;
  return fields;
}

export const inbounds = audited({
  area: 'inbound',
  hook: duringInboundSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.tag ?? '',
    id: (after ?? before)?.id ?? '',
    before: inboundFacts(before),
    after: inboundFacts(after),
  }),
});
