// Says what saving does to the core, and to clients that are online now.
import { useQuery } from '@tanstack/react-query';
import { useReader } from '../language/context.js';
import { endsOf, type Plan } from './plan.js';
import { onlineQuery } from './queries.js';

export function PlanLine({ plan, id }: { plan: Plan; id: number | undefined }) {
  const { say } = useReader();
  const ends = endsOf(plan);
  const online = useQuery({
    ...onlineQuery(ends === 'some' ? id : undefined),
    enabled: ends !== 'none' && id !== undefined,
  }).data;
  return (
    <span className="plan-line" data-ends={ends}>
      {say(`inbounds.plan.${plan}`)}
      {ends !== 'none' && online !== undefined && ` ${say('inbounds.plan.online', { count: online })}`}
    </span>
  );
}
