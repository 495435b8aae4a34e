// What a reseller may give, and what he has given.
import { useQuery } from '@tanstack/react-query';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { QuotaFacts } from '../resellers/quota-facts.js';
import { figuresQuery } from './queries.js';

export function OwnFigures() {
  const { say } = useReader();
  const figures = useQuery(figuresQuery);
  if (figures.error) return <Problem error={figures.error} retry={() => void figures.refetch()} />;
  if (!figures.data) return <p className="muted">{say('loading')}</p>;
  return (
    <section className="card" aria-label={say('resellers.figures')}>
      <dl className="facts">
        <QuotaFacts of={figures.data} />
      </dl>
    </section>
  );
}
