// How balancers are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { type Balancer, duringBalancerSave } from './contract.js';

function balancerFacts(balancer: Balancer | undefined): object | undefined {
  if (!balancer) return undefined;
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = balancer;
  return fields;
}

export const subBalancers = audited({
  area: 'subBalancer',
  hook: duringBalancerSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.remark ?? '',
    id: (after ?? before)?.id ?? '',
    before: balancerFacts(before),
    after: balancerFacts(after),
  }),
});
