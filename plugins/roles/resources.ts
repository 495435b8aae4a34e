// What permissions are about: one resource for the plugins that an admin thinks of as one thing.

export interface Resource {
  readonly about: string;
  /** A plugin that is in no resource, such as a third-party one, is a resource of its own name. */
  readonly plugins: readonly string[];
}

export const RESOURCES: Readonly<Record<string, Resource>> = {
  clients: {
    about: 'Clients with their keys, groups, usage, devices, addresses and links.',
    plugins: [
      ...['clients', 'traffic', 'addresses', 'devices', 'external-links', 'global-traffic'],
      ...['sub-links', 'app-link', 'usage-by-day', 'bulk-jobs'],
    ],
  },
  inbounds: {
    about:
      'Inbounds and their fallbacks, keys and targets for REALITY. Their clients need the resource clients as well.',
    plugins: ['inbounds', 'fallbacks', 'keygen', 'reality-scanner', 'amneziawg'],
  },
  hosts: { about: 'Further addresses of inbounds in subscriptions.', plugins: ['hosts'] },
  subscriptions: {
    about: 'What client programs get from the subscription server.',
    plugins: ['subscription', 'sub-balancers'],
  },
  outbounds: {
    about: 'Outbounds, lists of them, tunnel services and their traffic.',
    plugins: ['outbounds', 'outbound-subs', 'outbound-traffic', 'edgetunnel', 'vpnprovider'],
  },
  core: {
    about: 'The core: its template (to read), its state, its programs and geodata; restarts.',
    plugins: ['engine', 'core-template', 'engine-metrics', 'engine-versions', 'sidecars', 'geodata'],
  },
  nodes: { about: 'Other panels that this one manages.', plugins: ['nodes', 'node-sync'] },
  server: {
    about: 'The machine and the panel: load, alarms, jobs, plugins, versions.',
    plugins: ['server-status', 'system', 'alarms', 'updates', 'cluster'],
  },
  logs: {
    about: 'The logs of the panel and of the core, with the connections of clients.',
    plugins: ['panel-logs', 'engine-logs'],
  },
  settings: {
    about: 'Settings, to read. Only a full admin changes them.',
    plugins: ['settings', 'remote-texts'],
  },
  notifications: {
    about: 'Notifications and their channels.',
    plugins: ['notifications', 'mail', 'webhook', 'msg-bot'],
  },
  'event-callbacks': { about: 'Signed calls to other programs.', plugins: ['event-callbacks'] },
  certificates: { about: 'Certificates that an authority issues.', plugins: ['certificates'] },
  bans: { about: 'Banned addresses.', plugins: ['ban-guard'] },
  audit: { about: 'The record of changes, of everybody.', plugins: ['audit'] },
  backups: {
    about: 'The list of backups, to read. Only a full admin makes or restores one.',
    plugins: ['backup'],
  },
};

/** Plugins that give rights, or all that the panel knows: only a full admin may call them, but for the calls that `call-lists.ts` names. */
export const FULL_ONLY: ReadonlySet<string> = new Set([
  ...[
    'access',
    'roles',
    'resellers',
    'group-roles',
    'archive',
    'import-3x-ui',
    'metrics',
    'node-agent',
    'openid',
  ],
  // What they serve to every admin is named in call-lists.ts.
  ...['api-docs', 'web-ui', 'schemas', 'preferences', 'realtime', 'quickstart', 'kernel'],
  'passkeys',
]);

const OF_PLUGIN = new Map(
  Object.entries(RESOURCES).flatMap(([name, { plugins }]) =>
    plugins.map((plugin) => [plugin, name] as const),
  ),
);

/** The resource of what a plugin serves; undefined if it is for full admins. */
export const resourceOf = (plugin: string): string | undefined =>
  FULL_ONLY.has(plugin) ? undefined : (OF_PLUGIN.get(plugin) ?? plugin);
