// Links between the pages of an area, above its lists; the page of one record has a way back of its own.
import { useRouterState } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { Tabs } from '../parts/tabs.js';
import { areaOf } from './areas.js';

export function AreaTabs() {
  const { say } = useReader();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const found = areaOf(path);
  if (!found || found.page.to !== path) return null;
  return (
    <div className="area">
      <Tabs label={say('nav.area')} tabs={found.area.pages} />
    </div>
  );
}
