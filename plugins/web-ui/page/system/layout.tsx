// The pages of the system below one heading, with links between them.
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { pluginsQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import './system.css';

/** `of`: the plugin that answers it. */
const TABS = [
  { to: '/system/plugins', text: 'system.plugins', of: undefined },
  { to: '/system/access', text: 'system.access', of: undefined },
  { to: '/system/settings', text: 'system.settings', of: undefined },
  { to: '/system/audit', text: 'system.audit', of: 'audit' },
  { to: '/system/logs', text: 'system.logs', of: 'panel-logs' },
  { to: '/system/api', text: 'system.api', of: undefined },
] as const;

export function SystemLayout() {
  const { say } = useReader();
  const plugins = useQuery(pluginsQuery).data;
  const isOffered = (plugin: string | undefined): boolean =>
    plugin === undefined ||
    plugins === undefined ||
    plugins.some(({ name, state }) => name === plugin && state === 'running');
  return (
    <div className="page system">
      <h1>{say('system.title')}</h1>
      <nav aria-label={say('system.parts')}>
        <ul className="system-tabs">
          {TABS.filter(({ of }) => isOffered(of)).map(({ to, text }) => (
            <li key={to}>
              <Link to={to} className="system-tab">
                {say(text)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet />
    </div>
  );
}
