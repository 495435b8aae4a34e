// What is around each page for admins: the bar with the pages, the state of the stream, and the login sheet.
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import {
  DatabaseBackup,
  Ellipsis,
  LayoutDashboard,
  Network,
  Route,
  Rss,
  Server,
  Settings,
  SlidersHorizontal,
  Users,
} from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useMay, useOwnKind } from '../api/rights.js';
import { useIsRunning } from '../api/running.js';
import { preferencesStore, useReader } from '../language/context.js';
import { useLive, useLiveState } from '../live/use-live.js';
import { LoginSheet } from '../login/sheet.js';
import { useIsNarrow } from '../parts/narrow.js';
import { Notices } from '../parts/notices.js';
import { PaletteKey } from '../palette/open.js';
import { iconOf } from '../plugin-pages/icons.js';
import { pluginPagesQuery, type ShownPage, titleIn } from '../plugin-pages/queries.js';
import { useSharedPreferences } from '../preferences/use-shared.js';
import { AccountMenu } from './account-menu.js';
import { AreaTabs } from './area-tabs.js';
import { areaOf } from './areas.js';
import { keepFocus } from './keep-focus.js';
import { ShortcutHelp, useShortcuts } from './shortcuts.js';
import './shell.css';

/** `needs`: without this permission it is not offered. */
const PAGES = [
  { to: '/', text: 'nav.dashboard', icon: LayoutDashboard, also: [] },
  { to: '/clients', text: 'nav.clients', icon: Users, also: ['/client'], needs: 'clients:read' },
  {
    to: '/inbounds',
    text: 'nav.inbounds',
    icon: Network,
    also: ['/inbound', '/inbound/new'],
    needs: 'inbounds:read',
  },
  { to: '/nodes', text: 'nav.nodes', icon: Server, also: ['/node', '/node/new'], needs: 'nodes:read' },
  {
    to: '/routing',
    text: 'nav.routing',
    icon: Route,
    needs: 'core:read',
    also: [
      '/routing/outbounds',
      '/routing/outbound',
      '/routing/rules',
      '/routing/rule',
      '/routing/balancers',
      '/routing/balancer',
      '/routing/lists',
      '/routing/list',
      '/routing/list/new',
      '/routing/tunnels',
    ],
  },
  { to: '/subscription', text: 'nav.subscription', icon: Rss, also: [], needs: 'settings:read' },
  { to: '/backups', text: 'nav.backups', icon: DatabaseBackup, also: [], needs: 'backups:read' },
  {
    to: '/system',
    text: 'nav.system',
    icon: Settings,
    also: [
      '/system/plugins',
      '/system/access',
      '/system/settings',
      '/system/audit',
      '/system/logs',
      '/system/api',
    ],
  },
  { to: '/preferences', text: 'nav.preferences', icon: SlidersHorizontal, also: [] },
] as const;
/** What a reseller and an admin of groups have instead. */
const OWN_PAGES = [
  { to: '/own-clients', text: 'nav.clients', icon: Users, also: ['/own-client'] },
  { to: '/system/access', text: 'system.access', icon: Settings, also: [] },
  { to: '/preferences', text: 'nav.preferences', icon: SlidersHorizontal, also: [] },
] as const;
type MenuPage = (typeof PAGES)[number] | (typeof OWN_PAGES)[number];

/** The pages that the admin may see. */
export function useOfferedPages(): readonly MenuPage[] {
  const may = useMay();
  const isOwn = useOwnKind() !== undefined;
  return isOwn ? OWN_PAGES : PAGES.filter((page) => !('needs' in page) || may(page.needs));
}

/** How many pages the bar of a phone has room for; the others are in its menu. */
const ON_A_PHONE = 3;

export function Shell() {
  const { say } = useReader();
  const isNarrow = useIsNarrow();
  const isRunning = useIsRunning();
  const isOwn = useOwnKind() !== undefined;
  const hasStream = isRunning('realtime') && !isOwn;
  useLive(hasStream);
  useSharedPreferences(preferencesStore);
  useEffect(keepFocus, []);
  const pluginPages = (useQuery(pluginPagesQuery).data ?? []).filter(({ plugin }) => isRunning(plugin));
  const pages = useOfferedPages();
  const keys = useShortcuts();
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        {say('nav.skip')}
      </button>
      <header className="bar">
        <Link to="/" className="brand" aria-label={say('nav.home')}>
          <Mark />
          <span>Weir</span>
        </Link>
        <nav aria-label={say('nav.label')}>
          <ul>
            {(isNarrow ? pages.slice(0, ON_A_PHONE) : pages).map((page) => (
              <li key={page.to}>
                <PageLink {...page} />
              </li>
            ))}
            {!isNarrow &&
              pluginPages.map((page) => (
                <li key={`${page.plugin}/${page.key}`}>
                  <PluginPageLink page={page} />
                </li>
              ))}
            {isNarrow && pages.length > ON_A_PHONE && (
              <li>
                <OtherPages pages={pages.slice(ON_A_PHONE)} pluginPages={pluginPages} />
              </li>
            )}
          </ul>
        </nav>
        <div className="bar-end">
          <StreamState isOffered={hasStream} />
          <AccountMenu hasApiPage={isRunning('api-docs') && !isOwn} showKeys={keys.show} />
        </div>
      </header>
      <Main>
        <LostBanner />
        <AreaTabs />
        <Outlet />
      </Main>
      <Notices />
      <LoginSheet />
      <ShortcutHelp {...keys} />
      <PaletteKey showKeys={keys.show} />
    </div>
  );
}

/** After a change of the page, a screen reader begins at its top. */
function Main({ children }: { children: ReactNode }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}

function OtherPages({
  pages: others,
  pluginPages,
}: {
  pages: readonly MenuPage[];
  pluginPages: readonly ShownPage[];
}) {
  const { say, language } = useReader();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isHere = others.some((page) => isAt(page, path)) || path === '/plugin-page';
  return (
    <MenuTrigger>
      <Button className="page-link" data-here={isHere || undefined}>
        <Ellipsis size={20} aria-hidden />
        <span>{say('more')}</span>
      </Button>
      <Popover className="popover" placement="top end">
        <Menu className="menu">
          {others.map(({ to, text }) => (
            <MenuItem key={to} onAction={() => void navigate({ to })}>
              {say(text)}
            </MenuItem>
          ))}
          {pluginPages.map((page) => (
            <MenuItem
              key={`${page.plugin}/${page.key}`}
              onAction={() =>
                void navigate({ to: '/plugin-page', search: { plugin: page.plugin, page: page.key } })
              }
            >
              <bdi>{titleIn(page, language.key)}</bdi>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

const isAt = ({ to, also }: MenuPage, path: string): boolean =>
  path === to || (also as readonly string[]).includes(path) || areaOf(path)?.area.to === to;

function PageLink(page: MenuPage) {
  const { to, text, icon: Icon } = page;
  const { say } = useReader();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isHere = isAt(page, path);
  return (
    <Link
      to={to}
      className="page-link"
      data-here={isHere || undefined}
      aria-current={isHere ? 'page' : undefined}
    >
      <Icon size={20} aria-hidden />
      <span>{say(text)}</span>
    </Link>
  );
}

function PluginPageLink({ page }: { page: ShownPage }) {
  const { language } = useReader();
  const search = useRouterState({ select: ({ location }) => location.search as Record<string, unknown> });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isHere = path === '/plugin-page' && search['plugin'] === page.plugin && search['page'] === page.key;
  const Icon = iconOf(page.icon);
  return (
    <Link
      to="/plugin-page"
      search={{ plugin: page.plugin, page: page.key }}
      className="page-link"
      data-here={isHere || undefined}
      aria-current={isHere ? 'page' : undefined}
    >
      <Icon size={20} aria-hidden />
      <bdi>{titleIn(page, language.key)}</bdi>
    </Link>
  );
}

function StreamState({ isOffered }: { isOffered: boolean }) {
  const { say } = useReader();
  const state = useLiveState();
  if (!isOffered) return null;
  const isLive = state === 'live';
  return (
    <span className="stream" data-live={isLive || undefined} role="status">
      <span className="dot" aria-hidden />
      {say(isLive ? 'live.on' : 'live.off')}
    </span>
  );
}

/** While the panel restarts, or the line is cut: what is shown may be old, and the page connects again by itself. */
function LostBanner() {
  const { say } = useReader();
  const isLost = useLiveState() === 'waiting';
  return (
    <div role="status" className="lost">
      {isLost && <p>{say('live.lost')}</p>}
    </div>
  );
}

const Mark = () => (
  <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
    <path
      d="M3 6c3 0 3 3 6 3s3-3 6-3 3 3 6 3M3 13c3 0 3 3 6 3s3-3 6-3 3 3 6 3"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.4"
      strokeLinecap="round"
    />
  </svg>
);
