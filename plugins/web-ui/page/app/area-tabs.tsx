// Links between the pages of an area, above its lists; the page of one record has a way back of its own.
import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { pluginsQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { areaOf } from './areas.js';

export function AreaTabs() {
  const { say } = useReader();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const plugins = useQuery(pluginsQuery).data;
  const found = areaOf(path);
  if (!found || found.page.to !== path) return null;
  const isOff = (name: string): boolean =>
    plugins !== undefined && !plugins.some((one) => one.name === name && one.state === 'running');
  const offered = found.area.pages.filter(({ plugin }) => plugin === undefined || !isOff(plugin));
  return (
    <nav className="area" aria-label={say('nav.area')}>
      <ul className="area-tabs">
        {offered.map(({ to, text }) => (
          <li key={to}>
            <Link to={to} search={{}} className="area-tab" aria-current={to === path ? 'page' : undefined}>
              {say(text)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
