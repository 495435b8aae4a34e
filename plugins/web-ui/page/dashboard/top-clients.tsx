// Who moved most today.
import { useQuery } from '@tanstack/react-query';
import { todayQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { ClientName } from '../parts/client-name.js';
import { Problem } from '../parts/problem.js';

export function TopClients() {
  const { say, format } = useReader();
  const { data, error, refetch } = useQuery(todayQuery);
  if (data === null) return null;
  return (
    <section className="card" aria-labelledby="top">
      <h2 id="top">{say('top.title')}</h2>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {data?.top.length === 0 && <p className="muted">{say('top.none')}</p>}
      {data && data.top.length > 0 && (
        <ol className="top">
          {data.top.map(({ id, email, up, down }) => (
            <li key={id}>
              <ClientName email={email} />
              <span className="number">{format.bytes(up + down)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
