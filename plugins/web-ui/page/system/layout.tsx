// The pages of the system below one heading, with links between them.
import { Outlet } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { type Tab, Tabs } from '../parts/tabs.js';
import './system.css';

const TABS: readonly Tab[] = [
  { to: '/system/plugins', text: 'system.plugins', needs: 'server:read' },
  { to: '/system/access', text: 'system.access' },
  { to: '/system/roles', text: 'roles.title', plugin: 'roles', needs: 'full' },
  { to: '/system/resellers', text: 'resellers.title', plugin: 'resellers', needs: 'full' },
  { to: '/system/settings', text: 'system.settings', needs: 'settings:read' },
  { to: '/system/audit', text: 'system.audit', plugin: 'audit', needs: 'audit:read' },
  { to: '/system/logs', text: 'system.logs', plugin: 'panel-logs', needs: 'logs:read' },
  { to: '/system/api', text: 'system.api' },
];

export function SystemLayout() {
  const { say } = useReader();
  return (
    <div className="page system">
      <h1>{say('system.title')}</h1>
      <Tabs label={say('system.parts')} tabs={TABS} />
      <Outlet />
    </div>
  );
}
