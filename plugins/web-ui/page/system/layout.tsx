// The pages of the system below one heading, with links between them.
import { Link, Outlet } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import './system.css';

const TABS = [
  { to: '/system/plugins', text: 'system.plugins' },
  { to: '/system/access', text: 'system.access' },
  { to: '/system/settings', text: 'system.settings' },
  { to: '/system/audit', text: 'system.audit' },
] as const;

export function SystemLayout() {
  const { say } = useReader();
  return (
    <div className="page system">
      <h1>{say('system.title')}</h1>
      <nav aria-label={say('system.parts')}>
        <ul className="system-tabs">
          {TABS.map(({ to, text }) => (
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
