// From where a client connects.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { clientPartQuery, queries } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';

const SECOND = 1000;
const MOST_SHOWN = 20;

export function Addresses({ email, limit }: { email: string; limit: number }) {
  const { say, format } = useReader();
  const query = clientPartQuery(email, 'addresses', (signal) =>
    weir.addresses.ofClient({ email }, { signal }),
  );
  const addresses = useQuery(query);
  const clear = useMutation({
    mutationFn: () => weir.addresses.clear({ email }),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  });
  const found = addresses.data ?? [];
  const now = Date.now();
  return (
    <section className="card" aria-labelledby="addresses">
      <h2 id="addresses">
        {say('addresses.title')}{' '}
        <span className="muted">
          {limit > 0 ? say('devices.of', { count: found.length, limit }) : format.number(found.length)}
        </span>
      </h2>
      {addresses.error && <Problem error={addresses.error} retry={() => void addresses.refetch()} />}
      {addresses.data?.length === 0 && <p className="muted">{say('addresses.none')}</p>}
      {found.length > 0 && (
        <ul className="lines">
          {found.slice(0, MOST_SHOWN).map(({ ip, node, lastSeen }) => (
            <li key={`${ip} ${node}`}>
              <div>
                <bdi dir="ltr">{ip}</bdi>
                <span className="muted">{format.distance(lastSeen * SECOND, now)}</span>
              </div>
            </li>
          ))}
        </ul>
      )}
      {found.length > 0 && (
        <Button className="button small" isDisabled={clear.isPending} onPress={() => clear.mutate()}>
          {say('addresses.clear')}
        </Button>
      )}
    </section>
  );
}
