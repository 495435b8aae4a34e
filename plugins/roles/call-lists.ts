// Calls that need something else than their plugin and method say: by default a GET reads the resource of its plugin,
// and everything else writes it.

const API = '/panel/api/';
const all = (method: string, paths: readonly string[]): string[] =>
  paths.map((path) => `${method} ${path.startsWith('/') ? path : `${API}${path}`}`);

/** How the own admin logs in: second factor, passkeys, accounts of providers. Each shows and changes the own ones only. */
const OWN_LOGIN = [
  ...all('GET', ['x/account/secondFactor', 'access/recoveryCodes', 'x/passkeys', 'x/openid/links']),
  ...all('POST', ['x/account/secondFactor', 'x/account/secondFactor/del', 'access/recoveryCodes/renew']),
  ...all('POST', ['x/passkeys/register/options', 'x/passkeys/register']),
  ...all('POST', ['x/passkeys/{id}/rename', 'x/passkeys/{id}/del']),
  ...all('POST', ['x/openid/link', 'x/openid/links/{id}/del']),
];

/** Of the own account, or the same for everybody: no role is too small for them. Those of accounts and tokens show and change the own ones only. */
export const ANY: ReadonlySet<string> = new Set([
  ...OWN_LOGIN,
  ...all('POST', ['setting/updateUser', 'access/sessions/revoke/{id}', 'access/sessions/revokeOthers']),
  ...all('GET', ['access/sessions', 'setting/apiTokens', 'x/roles/me', 'x/preferences', 'x/web-ui/pages']),
  ...all('POST', ['setting/apiTokens/create', 'setting/apiTokens/delete/{id}']),
  ...all('POST', ['setting/apiTokens/setEnabled/{id}', 'x/preferences', 'setting/defaultSettings']),
  ...all('GET', ['openapi.json', 'x/schemas/protocols', 'x/schemas/transports', 'x/schemas/settings']),
  // Each message of the stream needs what its plugin serves.
  ...all('GET', ['/ws', '/socket.io']),
]);

/** Of the own account alone: all that admins may call whose role has a kind, beside what is made for the kind. */
export const OWN_ACCOUNT: ReadonlySet<string> = new Set([
  ...OWN_LOGIN,
  ...all('GET', ['access/sessions', 'x/roles/me', 'x/preferences']),
  ...all('POST', ['access/sessions/revoke/{id}', 'access/sessions/revokeOthers']),
  ...all('POST', ['setting/updateUser', 'x/preferences']),
]);
/** What is made for each kind of role: paths of one plugin. Those that decide about resellers begin with `x/resellers`. */
export const PATHS_OF_KIND: Readonly<Record<string, { readonly plugin: string; readonly begin: string }>> = {
  reseller: { plugin: 'resellers', begin: `${API}x/reseller/` },
  groups: { plugin: 'group-roles', begin: `${API}x/group-clients/` },
};

/** They give rights, reach every secret, or change what the panel itself is. */
export const FULL: ReadonlySet<string> = new Set([
  ...all('POST', ['setting/update', 'x/settings/import', 'setting/restartPanel']),
  // It tries settings; with a template of one's own it shows every field of a client.
  ...all('POST', ['x/subscription/preview']),
  ...all('POST', ['system/plugins/{name}', 'system/jobs/{plugin}/{job}']),
  // The template can name files, and what listens on the machine.
  ...all('POST', ['engine/update', 'engine/plan', 'x/core-template/restore/{id}']),
  ...all('GET', ['server/getConfigJson', 'server/getDb', 'server/getMigration', 'x/backup/download/{name}']),
  ...all('POST', ['server/importDB', 'x/backup/run', 'x/backup/delete/{name}', 'x/backup/restore/{name}']),
  ...all('POST', ['x/backup/verify/{name}', 'backuptotgbot']),
  ...all('POST', ['server/updatePanel', 'server/setUpdateChannel', 'server/installEngine/{version}']),
  // Who is trusted as a central may change everything here.
  ...all('POST', ['nodes/mtls/ca', 'nodes/mtls/trustCA', 'x/nodes/mtls/rotate', 'x/nodes/mtls/retire']),
  ...all('POST', ['nodes/updatePanel', 'x/audit/{entry}/undo']),
]);

/** They only show something that the panel has. A call that makes the panel call another machine is none of them. */
const READS = all('POST', [
  ...['clients/activeInbounds', 'clients/clientIpsByGuid', 'clients/hwids/{email}', 'clients/ips/{email}'],
  ...['clients/lastOnline', 'clients/onlines', 'clients/onlinesByGuid', 'clients/appLink/{id}'],
  ...['engine/', 'engine/balancerStatus', 'engine/routeTest', 'x/geodata/check'],
  ...['server/enginelogs/{count}', 'server/logs/{count}', 'x/audit/verify'],
  ...['setting/all', 'setting/factoryDefaults', 'setting/validateRegex', 'server/getNewEchCert'],
]);
export const READING: ReadonlySet<string> = new Set(READS);

const needing = (permissions: readonly string[], calls: readonly string[]): [string, readonly string[]][] =>
  calls.map((call) => [call, permissions]);

/** They touch more than one resource, or another one than their plugin serves. */
export const OTHER: ReadonlyMap<string, readonly string[]> = new Map([
  ...needing(
    ['inbounds:read', 'clients:read'],
    all('GET', ['inbounds/get/{id}', 'inbounds/list/slim', 'inbounds/allLinks']),
  ),
  ...needing(
    ['inbounds:write', 'clients:write'],
    all('POST', ['inbounds/add', 'inbounds/update/{id}', 'inbounds/import', 'inbounds/{id}/delAllClients']),
  ),
  ...needing(['clients:read'], all('GET', ['x/subscription/urls/{email}'])),
  // With the name of a client it shows all of its links.
  ...needing(['subscriptions:read', 'clients:read'], all('GET', ['setting/subscriptionPreview'])),
  ...needing(['logs:read'], all('POST', ['server/amneziawglogs/{count}'])),
  // They make and delete inbounds and clients here.
  ...needing(
    ['nodes:write', 'inbounds:write', 'clients:write'],
    all('POST', ['x/node-sync/{id}/adopt', 'x/node-sync/{id}/release']),
  ),
  // Events of clients, inbounds and settings go to whoever decides where.
  ...needing(
    ['event-callbacks:write', 'clients:read', 'inbounds:read', 'settings:read'],
    all(
      'POST',
      ['endpoints', 'endpoints/{id}', 'endpoints/{id}/redeliver', 'endpoints/{id}/rotate'].map(
        (path) => `x/event-callbacks/${path}`,
      ),
    ),
  ),
  // They put an outbound into the template, which the core tests.
  ...needing(['outbounds:write', 'core:write'], all('POST', ['x/edgetunnel/apply', 'x/vpnprovider/apply'])),
]);
