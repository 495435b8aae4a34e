// The groups of clients: how many each has, what they used, and what is done with all of them.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useIsRunning } from '../api/running.js';
import { RecentJobs } from '../jobs/recent.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { Permitted } from '../parts/permitted.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { GroupCard } from './group-card.js';
import { shownGroups } from './members.js';
import { NameForm } from './name-form.js';
import { groupsQuery, useLiveGroups } from './queries.js';
import '../clients/clients.css';
import './groups.css';

const MOST_SHOWN = 200;
/** From how many groups on a search helps. */
const MANY = 8;

export function GroupsPage() {
  const { say } = useReader();
  const groups = useQuery(groupsQuery);
  const [search, setSearch] = useState('');
  const [isMaking, setMaking] = useState(false);
  useLiveGroups();
  const hasJobs = useIsRunning()('bulk-jobs');
  const all = groups.data ?? [];
  const names = all.map(({ name }) => name);
  const { shown, more } = shownGroups(all, search, MOST_SHOWN);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{say('groups.title')}</h1>
        <Permitted needs={['clients:write']}>
          <Button className="button main" onPress={() => setMaking(true)}>
            {say('groups.new')}
          </Button>
        </Permitted>
      </div>
      <p className="hint">{say('groups.about')}</p>
      {hasJobs && <RecentJobs />}
      {groups.error && <Problem error={groups.error} retry={() => void groups.refetch()} />}
      {groups.isPending && <p role="status">{say('loading')}</p>}
      {all.length > MANY && (
        <Field
          label={say('groups.search')}
          type="search"
          value={search}
          onChange={setSearch}
          maxLength={255}
        />
      )}
      {groups.data?.length === 0 && <p className="empty">{say('groups.none')}</p>}
      {all.length > 0 && shown.length === 0 && <p className="muted">{say('groups.noMatch')}</p>}
      <ul className="groups">
        {shown.map((group) => (
          <GroupCard key={group.name} group={group} names={names} hasJobs={hasJobs} />
        ))}
      </ul>
      {more > 0 && <p className="hint">{say('groups.more', { count: more })}</p>}
      <Sheet title={say('groups.new')} isOpen={isMaking} close={() => setMaking(false)}>
        {isMaking && <NameForm names={names} close={() => setMaking(false)} />}
      </Sheet>
    </div>
  );
}
