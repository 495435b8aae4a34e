// Open sessions; each can be ended, or all others at once.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { sessionsQuery } from './queries.js';

export function Sessions() {
  const { say, format } = useReader();
  const sessions = useQuery(sessionsQuery);
  const end = useMutation({
    mutationFn: (id: string | undefined) =>
      id === undefined ? weir.access.sessions.revokeOthers() : weir.access.sessions.revoke({ id }),
    onSuccess: () => notify(say('system.sessionEnded')),
    onError: notifyTrouble,
    onSettled: () => void queries.invalidateQueries({ queryKey: ['access', 'sessions'] }),
  });
  const all = sessions.data ?? [];
  const { shown, more } = usePortion(all);
  return (
    <section className="card" aria-labelledby="sessions">
      <div className="card-head">
        <h2 id="sessions">{say('system.sessions')}</h2>
        {all.some(({ current }) => !current) && (
          <Button
            className="button risky small"
            isPending={end.isPending}
            onPress={() => end.mutate(undefined)}
          >
            {say('system.endOthers')}
          </Button>
        )}
      </div>
      {sessions.error && <Problem error={sessions.error} retry={() => void sessions.refetch()} />}
      {sessions.isPending && <p className="muted">{say('loading')}</p>}
      <ul className="system-list">
        {shown.map(({ id, username, lastUsedAt, createdAt, ip, userAgent, current }) => (
          <li key={id} className="card" data-session={current ? 'current' : 'other'}>
            <div className="card-head">
              <strong>
                <bdi>{shownName(username)}</bdi> · <bdi dir="ltr">{shownName(ip)}</bdi>
              </strong>
              {current ? (
                <span className="tag">{say('system.thisSession')}</span>
              ) : (
                <Button
                  className="button small"
                  aria-label={say('system.endOf', { name: isolated(ip || username) })}
                  isPending={end.isPending}
                  onPress={() => end.mutate(id)}
                >
                  {say('system.end')}
                </Button>
              )}
            </div>
            <p className="said" dir="ltr">
              {shownName(userAgent)}
            </p>
            <p className="muted">
              {say('system.sessionTimes', {
                since: format.moment(createdAt),
                used: format.moment(lastUsedAt),
              })}
            </p>
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}
