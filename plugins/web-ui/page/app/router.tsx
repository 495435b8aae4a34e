// The pages with their addresses. What is behind the dashboard is loaded when somebody goes there.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { pageUrl, session } from '../api/panel.js';
import { queries, rightsQuery } from '../api/queries.js';
import { mayWith, ownKindOf } from '../api/may.js';
import { viewOf } from '../clients/view.js';
import { DashboardPage } from '../dashboard/page.js';
import { LoginPage } from '../login/page.js';
import { spoken } from '../language/context.js';
import { ownViewOf } from '../own/view.js';
import { auditViewOf } from '../system/audit-view.js';
import { logViewOf } from '../system/log-view.js';
import { forgetOthers } from './forget.js';
import { NotFound } from './not-found.js';
import { PageFailed, PartFailed } from './page-failed.js';
import { parseSearch, returnPath, stringifySearch } from './search-params.js';
import { Shell } from './shell.js';

/** A page that is loaded when somebody goes there, with the texts that the first pages have not. */
const latePage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    const [page] = await Promise.all([load(), spoken.whole()]);
    return page;
  }, name);

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailed });

const login = createRoute({
  getParentRoute: () => root,
  path: 'login',
  validateSearch: (search: Record<string, unknown>) => ({
    returnTo: search['returnTo'] === undefined ? undefined : returnPath(String(search['returnTo'])),
    trouble: search['trouble'] === undefined ? undefined : String(search['trouble']),
  }),
  component: LoginPage,
});

/** All that there is for a reseller, and for an admin of groups. */
const OWN_PAGES = ['/own-clients', '/own-client', '/system/access', '/preferences'];

const admin = createRoute({
  getParentRoute: () => root,
  id: 'admin',
  beforeLoad: async ({ location }) => {
    if (session.state().kind !== 'out') {
      const rights = await queries.ensureQueryData(rightsQuery).catch(() => null);
      if (ownKindOf(rights) && !OWN_PAGES.includes(location.pathname)) throw redirect({ to: '/own-clients' });
      return;
    }
    const { pathname, searchStr } = location;
    const returnTo = returnPath(`${pathname}${searchStr}`);
    const search = { returnTo: returnTo === '/' ? undefined : returnTo, trouble: undefined };
    throw redirect({ to: '/login', search });
  },
  component: Shell,
});

const dashboard = createRoute({ getParentRoute: () => admin, path: '/', component: DashboardPage });
const clients = createRoute({
  getParentRoute: () => admin,
  path: 'clients',
  validateSearch: (search: Record<string, unknown>) => viewOf(search),
  component: latePage(() => import('../clients/list-page.js'), 'ClientsPage'),
});
/** The name is no part of the path: `..` is a name, too. */
const client = createRoute({
  getParentRoute: () => admin,
  path: 'client',
  validateSearch: (search: Record<string, unknown>) => ({
    name: String(search['name'] ?? ''),
    edit: search['edit'] === undefined ? undefined : '1',
  }),
  component: latePage(() => import('../clients/client-page.js'), 'ClientPage'),
});
const preferences = createRoute({
  getParentRoute: () => admin,
  path: 'preferences',
  component: latePage(() => import('../preferences/page.js'), 'PreferencesPage'),
});
const inbounds = createRoute({
  getParentRoute: () => admin,
  path: 'inbounds',
  component: latePage(() => import('../inbounds/list-page.js'), 'InboundsPage'),
});
const inbound = createRoute({
  getParentRoute: () => admin,
  path: 'inbound',
  validateSearch: (search: Record<string, unknown>) => ({ id: String(search['id'] ?? '') }),
  component: latePage(() => import('../inbounds/inbound-page.js'), 'InboundPage'),
});
const newInbound = createRoute({
  getParentRoute: () => admin,
  path: 'inbound/new',
  validateSearch: (search: Record<string, unknown>): { from?: string } =>
    /^\d{1,10}$/.test(String(search['from'] ?? '')) ? { from: String(search['from']) } : {},
  component: latePage(() => import('../inbounds/inbound-page.js'), 'NewInboundPage'),
});
const system = createRoute({
  getParentRoute: () => admin,
  path: 'system',
  component: latePage(() => import('../system/layout.js'), 'SystemLayout'),
});
const systemStart = createRoute({
  getParentRoute: () => system,
  path: '/',
  beforeLoad: () => {
    const may = mayWith(queries.getQueryData(rightsQuery.queryKey), 'server:read');
    throw redirect({ to: may ? '/system/plugins' : '/system/access', replace: true });
  },
});
const plugins = createRoute({
  getParentRoute: () => system,
  path: 'plugins',
  component: latePage(() => import('../system/plugins-page.js'), 'PluginsPage'),
});
const roles = createRoute({
  getParentRoute: () => system,
  path: 'roles',
  component: latePage(() => import('../roles/page.js'), 'RolesPage'),
});
const resellers = createRoute({
  getParentRoute: () => system,
  path: 'resellers',
  component: latePage(() => import('../resellers/page.js'), 'ResellersPage'),
});
const ownClients = createRoute({
  getParentRoute: () => admin,
  path: 'own-clients',
  validateSearch: (search: Record<string, unknown>) => ownViewOf(search),
  component: latePage(() => import('../own/clients-page.js'), 'OwnClientsPage'),
});
const ownClient = createRoute({
  getParentRoute: () => admin,
  path: 'own-client',
  validateSearch: (search: Record<string, unknown>) => ({ id: Number(search['id']) || 0 }),
  component: latePage(() => import('../own/client-page.js'), 'OwnClientPage'),
});
const access = createRoute({
  getParentRoute: () => system,
  path: 'access',
  component: latePage(() => import('../system/access-page.js'), 'AccessPage'),
});
const settings = createRoute({
  getParentRoute: () => system,
  path: 'settings',
  validateSearch: (search: Record<string, unknown>): { search?: string } =>
    typeof search['search'] === 'string' ? { search: search['search'] } : {},
  component: latePage(() => import('../system/settings-page.js'), 'SettingsPage'),
});
const audit = createRoute({
  getParentRoute: () => system,
  path: 'audit',
  validateSearch: (search: Record<string, unknown>) => auditViewOf(search),
  component: latePage(() => import('../system/audit-page.js'), 'AuditPage'),
});
const logs = createRoute({
  getParentRoute: () => system,
  path: 'logs',
  validateSearch: (search: Record<string, unknown>) => logViewOf(search),
  component: latePage(() => import('../system/logs-page.js'), 'LogsPage'),
});

const nodes = createRoute({
  getParentRoute: () => admin,
  path: 'nodes',
  component: latePage(() => import('../nodes/list-page.js'), 'NodesPage'),
});
const newNode = createRoute({
  getParentRoute: () => admin,
  path: 'node/new',
  component: latePage(() => import('../nodes/new-page.js'), 'NewNodePage'),
});
const node = createRoute({
  getParentRoute: () => admin,
  path: 'node',
  validateSearch: (search: Record<string, unknown>) => ({
    id: String(search['id'] ?? ''),
    edit: search['edit'] === undefined ? undefined : '1',
  }),
  component: latePage(() => import('../nodes/node-page.js'), 'NodePage'),
});

const backups = createRoute({
  getParentRoute: () => admin,
  path: 'backups',
  component: latePage(() => import('../backups/page.js'), 'BackupsPage'),
});

const start = createRoute({
  getParentRoute: () => admin,
  path: 'start',
  component: latePage(() => import('../start/page.js'), 'StartPage'),
});

const pluginPage = createRoute({
  getParentRoute: () => admin,
  path: 'plugin-page',
  validateSearch: (search: Record<string, unknown>) => ({
    plugin: String(search['plugin'] ?? ''),
    page: String(search['page'] ?? ''),
  }),
  component: latePage(() => import('../plugin-pages/page.js'), 'PluginPagePage'),
});

const routing = createRoute({
  getParentRoute: () => admin,
  path: 'routing',
  component: latePage(() => import('../routing/layout.js'), 'RoutingLayout'),
});
const routingStart = createRoute({
  getParentRoute: () => routing,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/routing/outbounds', replace: true });
  },
});
const outbounds = createRoute({
  getParentRoute: () => routing,
  path: 'outbounds',
  component: latePage(() => import('../routing/outbounds-page.js'), 'OutboundsPage'),
});
/** A place in the draft, because tags change while they are typed. */
const placeOf = (search: Record<string, unknown>) => ({ at: String(search['at'] ?? '') });
const outbound = createRoute({
  getParentRoute: () => routing,
  path: 'outbound',
  validateSearch: placeOf,
  component: latePage(() => import('../routing/outbound-page.js'), 'OutboundPage'),
});
const rules = createRoute({
  getParentRoute: () => routing,
  path: 'rules',
  component: latePage(() => import('../routing/rules-page.js'), 'RulesPage'),
});
const rule = createRoute({
  getParentRoute: () => routing,
  path: 'rule',
  validateSearch: placeOf,
  component: latePage(() => import('../routing/rule-page.js'), 'RulePage'),
});
const balancers = createRoute({
  getParentRoute: () => routing,
  path: 'balancers',
  component: latePage(() => import('../routing/balancers-page.js'), 'BalancersPage'),
});
const balancer = createRoute({
  getParentRoute: () => routing,
  path: 'balancer',
  validateSearch: placeOf,
  component: latePage(() => import('../routing/balancer-page.js'), 'BalancerPage'),
});
const outboundLists = createRoute({
  getParentRoute: () => routing,
  path: 'lists',
  component: latePage(() => import('../routing/lists-page.js'), 'ListsPage'),
});
const outboundList = createRoute({
  getParentRoute: () => routing,
  path: 'list',
  validateSearch: (search: Record<string, unknown>) => ({ id: String(search['id'] ?? '') }),
  component: latePage(() => import('../routing/list-page.js'), 'ListPage'),
});
const newOutboundList = createRoute({
  getParentRoute: () => routing,
  path: 'list/new',
  component: latePage(() => import('../routing/list-page.js'), 'NewListPage'),
});
const tunnels = createRoute({
  getParentRoute: () => routing,
  path: 'tunnels',
  component: latePage(() => import('../routing/tunnels-page.js'), 'TunnelsPage'),
});

const hosts = createRoute({
  getParentRoute: () => admin,
  path: 'hosts',
  component: latePage(() => import('../hosts/list-page.js'), 'HostsPage'),
});
const host = createRoute({
  getParentRoute: () => admin,
  path: 'host',
  validateSearch: (search: Record<string, unknown>) => ({ id: String(search['id'] ?? '') }),
  component: latePage(() => import('../hosts/host-page.js'), 'HostPage'),
});
const newHost = createRoute({
  getParentRoute: () => admin,
  path: 'host/new',
  validateSearch: (search: Record<string, unknown>) => ({
    inbound: search['inbound'] === undefined ? undefined : String(search['inbound']),
  }),
  component: latePage(() => import('../hosts/host-page.js'), 'NewHostPage'),
});

const groups = createRoute({
  getParentRoute: () => admin,
  path: 'groups',
  component: latePage(() => import('../groups/page.js'), 'GroupsPage'),
});

const subscription = createRoute({
  getParentRoute: () => admin,
  path: 'subscription',
  validateSearch: (search: Record<string, unknown>) => ({
    client: search['client'] === undefined ? undefined : String(search['client']),
  }),
  component: latePage(() => import('../subscription/page.js'), 'SubscriptionPage'),
});

const apiPage = createRoute({
  getParentRoute: () => system,
  path: 'api',
  component: latePage(() => import('../api-page/page.js'), 'ApiPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    admin.addChildren([
      dashboard,
      clients,
      client,
      inbounds,
      inbound,
      newInbound,
      nodes,
      newNode,
      node,
      backups,
      start,
      hosts,
      host,
      newHost,
      groups,
      subscription,
      system.addChildren([systemStart, plugins, access, roles, resellers, settings, audit, logs, apiPage]),
      routing.addChildren([
        ...([routingStart, outbounds, outbound, rules, rule, balancers, balancer] as const),
        ...([outboundLists, outboundList, newOutboundList, tunnels] as const),
      ]),
      preferences,
      ownClients,
      ownClient,
      pluginPage,
    ]),
  ]),
  basepath: pageUrl.pathname.replace(/\/$/, ''),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PartFailed,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

forgetOthers();
/** Goes to the login when a session is given up; at the start, the router does that by itself. */
let previous = session.state().kind;
session.subscribe(() => {
  const { kind } = session.state();
  if (kind === 'out' && (previous === 'in' || previous === 'ended')) void router.invalidate();
  previous = kind;
});
