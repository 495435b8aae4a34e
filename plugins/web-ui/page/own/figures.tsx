// What a reseller may give, and what he has given.
import { useQuery } from '@tanstack/react-query';
import { useReader } from '../language/context.js';
import { Meter } from '../parts/meter.js';
import { Problem } from '../parts/problem.js';
import { figuresQuery } from './queries.js';

export function OwnFigures() {
  const { say, format } = useReader();
  const figures = useQuery(figuresQuery);
  if (figures.error) return <Problem error={figures.error} retry={() => void figures.refetch()} />;
  if (!figures.data) return <p className="muted">{say('loading')}</p>;
  const { clients, maxClients, givenBytes, maxBytes, maxDays } = figures.data;
  return (
    <section className="card" aria-label={say('resellers.figures')}>
      <dl className="facts">
        <dt>{say('clients.title')}</dt>
        <dd>
          {maxClients > 0
            ? say('usage.of', { used: format.number(clients), all: format.number(maxClients) })
            : format.number(clients)}
        </dd>
        <dt>{say('resellers.given')}</dt>
        <dd>
          {maxBytes > 0
            ? say('usage.of', { used: format.bytes(givenBytes), all: format.bytes(maxBytes) })
            : format.bytes(givenBytes)}
          {maxBytes > 0 && <Meter share={givenBytes / maxBytes} label={say('resellers.given')} />}
        </dd>
        {maxDays > 0 && (
          <>
            <dt>{say('resellers.maxDays')}</dt>
            <dd>{format.number(maxDays)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
