// A panel without an inbound offers the first steps.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { inboundsQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';

export function StartOffer() {
  const { say } = useReader();
  const inbounds = useQuery(inboundsQuery);
  if (inbounds.data?.length !== 0) return null;
  return (
    <section className="card">
      <h2>{say('start.title')}</h2>
      <p>{say('start.offer')}</p>
      <div className="actions">
        <Link to="/start" className="button main">
          {say('start.begin')}
        </Link>
      </div>
    </section>
  );
}
