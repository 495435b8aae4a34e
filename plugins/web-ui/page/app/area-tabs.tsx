// Links between the pages of an area, above its lists; the page of one record has a way back of its own.
import { Link, useRouterState } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { areaOf } from './areas.js';

export function AreaTabs() {
  const { say } = useReader();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const found = areaOf(path);
  if (!found || found.page.to !== path) return null;
  return (
    <nav className="area" aria-label={say('nav.area')}>
      <ul className="area-tabs">
        {found.area.pages.map(({ to, text }) => (
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
