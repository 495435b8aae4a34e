// What a balancer is in the documents. Source: xtls.github.io, BalancerObject.
import type { DocumentGroup, GroupBalancer, GroupMember } from '../sub-json/contract.js';
import type { Balancer } from './fields.js';

/** A lower weight is taken more often: the core multiplies what it measured. Its matches are parts of tags unless they are patterns. */
const costOf = ({ tag, inboundId }: GroupMember, { memberWeights }: Balancer) => ({
  regexp: true,
  match: `^${tag.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
  value: memberWeights[inboundId] ?? 1,
});

function balancerOf(balancer: Balancer, members: readonly GroupMember[]): GroupBalancer {
  const { strategy: type, memberWeights } = balancer;
  if (type === 'random' || type === 'roundRobin') return { strategy: { type }, measured: false };
  const isWeighted =
    type === 'leastLoad' && members.some(({ inboundId }) => memberWeights[inboundId] !== undefined);
  const [first] = members;
  return {
    strategy: {
      type,
      ...(isWeighted && { settings: { costs: members.map((member) => costOf(member, balancer)) } }),
    },
    ...(first && { fallbackTag: first.tag }),
    measured: true,
  };
}

export const groupOf = (balancer: Balancer): DocumentGroup => ({
  remarks: balancer.remark,
  place: balancer.sortOrder,
  inboundIds: balancer.inboundIds,
  tagPrefix: `bal-${balancer.id}-`,
  balancer: (members) => balancerOf(balancer, members),
});
