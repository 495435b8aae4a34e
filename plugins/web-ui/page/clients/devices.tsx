// The devices that fetched the subscription of a client.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { clientPartQuery, queries } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';

const SECOND = 1000;

export function Devices({ email, limit }: { email: string; limit: number }) {
  const { say, format } = useReader();
  const query = clientPartQuery(email, 'devices', (signal) => weir.clients.devices({ email }, { signal }));
  const devices = useQuery(query);
  const remove = useMutation({
    mutationFn: (deviceId: number) => weir.clients.deleteDevice({ email, deviceId }),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  });
  const found = devices.data ?? [];
  const { shown, more } = usePortion(found, 50);
  const now = Date.now();
  return (
    <section className="card" aria-labelledby="devices">
      <h2 id="devices">
        {say('devices.title')}{' '}
        <span className="muted">
          {limit > 0 ? say('devices.of', { count: found.length, limit }) : format.number(found.length)}
        </span>
      </h2>
      {devices.error && <Problem error={devices.error} retry={() => void devices.refetch()} />}
      {devices.data?.length === 0 && <p className="muted">{say('devices.none')}</p>}
      {found.length > 0 && (
        <ul className="lines">
          {shown.map(({ id, deviceModel, deviceOs, osVersion, userAgent, lastSeen, fingerprint }) => {
            const name = shownName([deviceModel, deviceOs, osVersion].filter(Boolean).join(' ') || userAgent);
            return (
              <li key={id}>
                <div>
                  <bdi>{name || fingerprint}</bdi>
                  <span className="muted">{format.distance(lastSeen * SECOND, now)}</span>
                </div>
                <Button
                  className="button small"
                  aria-label={say('devices.remove', { name: name || fingerprint })}
                  isDisabled={remove.isPending}
                  onPress={() => remove.mutate(id)}
                >
                  {say('remove')}
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      {more}
    </section>
  );
}
