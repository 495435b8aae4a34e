// The pages of routing below one heading, with the changes that are not applied yet.
import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { type Tab, Tabs } from '../parts/tabs.js';
import { DraftBar } from './draft-bar.js';
import { templateQuery } from './queries.js';
import { useDraftState } from './use-draft.js';
import './routing.css';

const TABS: readonly Tab[] = [
  { to: '/routing/outbounds', text: 'routing.outbounds', record: '/routing/outbound' },
  { to: '/routing/rules', text: 'routing.rules', record: '/routing/rule' },
  { to: '/routing/balancers', text: 'routing.balancers', record: '/routing/balancer' },
  { to: '/routing/lists', text: 'routing.lists', record: '/routing/list' },
  { to: '/routing/tunnels', text: 'routing.tunnels' },
];

export function RoutingLayout() {
  const { say } = useReader();
  const template = useQuery(templateQuery);
  const state = useDraftState();
  return (
    <div className="page routing">
      <h1>{say('routing.title')}</h1>
      <Tabs label={say('routing.parts')} tabs={TABS} />
      {template.error && <Problem error={template.error} retry={() => void template.refetch()} />}
      {template.data === null && <p>{say('routing.absent')}</p>}
      {!state && template.isPending && <p role="status">{say('loading')}</p>}
      {state && (
        <>
          <Outlet />
          <DraftBar />
        </>
      )}
    </div>
  );
}
