import { duringLinksSave } from '../../external-links/contract.js';
import { type Balancer, duringBalancerSave } from '../../sub-balancers/contract.js';
import { audited } from '../contract.js';

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

export const externalLinks = audited({
  area: 'externalLink',
  hook: duringLinksSave,
  // A share link, or a URL that opens the subscription of somebody.
  secret: ['value'],
  describe: ({ clientId, before, after }) => {
    const facts = (links: typeof before) => ({
      links: links.map(({ kind, value, remark, enable, expiryTime, namePrefix }) => ({
        kind,
        value,
        remark,
        enable,
        expiryTime,
        namePrefix,
      })),
    });
    return { kind: 'updated', name: '', id: clientId, before: facts(before), after: facts(after) };
  },
});
