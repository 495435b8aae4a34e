// The groups whose clients an admin of groups sees.
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { ownGroupsQuery } from './queries.js';

export function OwnGroups() {
  const { say } = useReader();
  const own = useQuery(ownGroupsQuery);
  if (own.error) return <Problem error={own.error} retry={() => void own.refetch()} />;
  if (!own.data) return <p className="muted">{say('loading')}</p>;
  return (
    <section className="card" aria-label={say('groupRoles.own')}>
      <dl className="facts">
        {own.data.groups.map(({ name, clients }) => (
          <Fragment key={name}>
            <dt>
              <bdi>{shownName(name)}</bdi>
            </dt>
            <dd>{say('groups.clients', { count: clients })}</dd>
          </Fragment>
        ))}
      </dl>
      {own.data.level === 'read' && <p className="muted">{say('groupRoles.onlyReads')}</p>}
    </section>
  );
}
