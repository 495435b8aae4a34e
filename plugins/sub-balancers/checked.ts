// What a balancer must be, whether it is new or changed.
import { type Issue, sentenceOf } from '../../kernel/index.js';
import { errors } from './errors.js';
import { type Balancer, balancerRecord, type BalancerFields, type SentBalancer } from './fields.js';

/** The fields after a change; of a new balancer without `before`. Throws INVALID with all that is wrong. */
export function changedFields(sent: SentBalancer, before?: Balancer): BalancerFields {
  const { id: _id, ...current } = { id: 0, ...balancerRecord.create({}), ...before };
  const given = Object.fromEntries(
    Object.entries(sent).filter(([, value]: [string, unknown]) => value !== undefined && value !== null),
  );
  if ((sent.strategy as unknown) === null) given['strategy'] = 'random';
  const fields: BalancerFields = { ...current, ...given };
  const issues: Issue[] = [];
  if (fields.remark === '')
    issues.push({ path: 'remark', message: 'remark: the name of the document is required' });
  if (fields.inboundIds.length === 0)
    issues.push({ path: 'inboundIds', message: 'inboundIds: select at least one inbound' });
  const isWeighted = fields.strategy === 'leastLoad';
  if (!isWeighted && Object.keys(sent.memberWeights ?? {}).length > 0)
    issues.push({
      path: 'memberWeights',
      message: `memberWeights: only leastLoad has weights, not ${fields.strategy}; leave them out`,
    });
  if (issues.length > 0) throw errors.INVALID(sentenceOf(issues), { issues });
  const selected = new Set(fields.inboundIds.map(String));
  return {
    ...fields,
    memberWeights: isWeighted
      ? Object.fromEntries(Object.entries(fields.memberWeights).filter(([inbound]) => selected.has(inbound)))
      : {},
  };
}
