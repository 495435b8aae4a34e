// Runs on every database in test:full.
// Every endpoint that changes something, or hands out secrets, leaves an entry in the record of changes, or stands here with the reason why not.
import test from 'ava';
import nock from 'nock';
import type { ServedRoute } from '../../kernel/index.js';
import { issue } from '../harness/self-signed.js';
import type { TestPanel } from '../harness/panel.js';
import { boot, call, declaredOf, harm, nameOf, sampleOf, servedBy } from './samples.js';

const API = '/panel/api/';
const SHOWS = 'it shows something and changes nothing';
const MAKES = 'it makes something for its caller, and stores nothing';
const FETCHES = 'it fetches what is configured, as a job does';
const MACHINE = 'another panel calls it again and again; nobody decides anything';
/** POSTs that need no entry. */
const NOT_RECORDED: ReadonlyMap<string, string> = new Map([
  ['POST /getTwoFactorEnable', SHOWS],
  [`POST ${API}x/openid/login`, 'it begins a login, which is recorded when it is done'],
  [`POST ${API}x/openid/link`, 'it begins a link, which is recorded when it is done'],
  ['POST /logout', 'it ends the session of its caller, whose login is recorded'],
  ...[
    ...['clients/activeInbounds', 'clients/clientIpsByGuid', 'clients/hwids/{email}', 'clients/ips/{email}'],
    ...['clients/lastOnline', 'clients/onlines', 'clients/onlinesByGuid', 'clients/appLink/{id}'],
    ...['engine/', 'engine/balancerStatus', 'engine/plan', 'engine/routeTest', 'engine/outbound-subs/parse'],
    ...['server/amneziawglogs/{count}', 'server/enginelogs/{count}', 'server/logs/{count}'],
    ...[
      'server/getCertHash',
      'server/getRemoteCertHash',
      'x/geodata/check',
      'x/outbound-subs/link',
      'x/audit/verify',
    ],
    ...['server/scanRealityTarget', 'server/scanRealityTargets', 'setting/validateRegex'],
    ...['setting/all', 'setting/defaultSettings', 'setting/factoryDefaults', 'x/subscription/preview'],
    ...['nodes/test', 'nodes/probe/{id}', 'nodes/inbounds', 'nodes/certFingerprint'],
  ].map((path) => [`POST ${API}${path}`, SHOWS] as const),
  ...['server/getNewEchCert'].map((path) => [`POST ${API}${path}`, MAKES] as const),
  ...[
    ...['engine/testOutbound', 'engine/testOutbounds', 'notifications/test'],
    ...['setting/testMsgBot', 'setting/testSmtp', 'setting/testWebhook'],
    'x/event-callbacks/endpoints/{id}/ping',
  ].map((path) => [`POST ${API}${path}`, 'it tests what is configured'] as const),
  [`POST ${API}x/preferences`, 'how a page looks for its own admin'],
  ...['x/passkeys/register/options', 'x/passkeys/login/options'].map(
    (path) => [`POST ${API}${path}`, MAKES] as const,
  ),
  [`POST ${API}x/passkeys/login`, 'a login is recorded by the plugin access'],
  [`POST ${API}engine/outbound-subs/{id}/refresh`, FETCHES],
  [`POST ${API}x/certificates/{id}/issue`, FETCHES],
  [`POST ${API}x/node-sync/{id}/reconcile`, 'it sends what was recorded when it was edited'],
  [`POST ${API}x/node-sync/{id}/adopt`, 'the inbounds and clients that it adds are recorded'],
  [`POST ${API}x/node-sync/{id}/release`, 'the inbounds that it deletes here are recorded'],
  ...[
    'inbounds/pushClientTraffics',
    'server/clientIps',
    'x/node/elsewhere',
    'x/node/addresses',
    'x/node/devices',
    'x/node/usage/ack',
  ].map((path) => [`POST ${API}${path}`, MACHINE] as const),
  [
    `POST ${API}x/msg-bot/webhook/{secret}`,
    'the changes that a user asks for are recorded as those of the user',
  ],
]);
/** Those that this panel refuses, with the test that sees their entry. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  [`POST ${API}access/recoveryCodes/renew`, 'plugins/audit/test/acts.test.ts'],
  // No authenticator is here.
  ...['register', '{id}/rename', '{id}/del', 'of/{adminId}/del'].map(
    (act) => [`POST ${API}x/passkeys/${act}`, 'plugins/passkeys/test/passkeys.test.ts'] as const,
  ),
  ...['x/account/secondFactor', 'x/account/secondFactor/del', 'x/admins/{id}/secondFactor/del'].map(
    (path) => [`POST ${API}${path}`, 'plugins/access/test/own-factors.test.ts'] as const,
  ),
  [`POST ${API}access/sessions/revoke/{id}`, 'plugins/audit/test/acts.test.ts'],
  [`POST ${API}engine/balancerOverride`, 'plugins/audit/test/acts.core.test.ts'],
  [`POST ${API}server/importDB`, 'plugins/audit/test/program.test.ts'],
  [`POST ${API}x/notifications/deliveries/{id}/redeliver`, 'plugins/notifications/test/deliveries.test.ts'],
  // It is the entry of what its owner writes.
  [`POST ${API}x/audit/{entry}/undo`, 'plugins/audit/test/undo.test.ts'],
  // They take a file, and record the import before its first row.
  [`POST ${API}x/import/3x-ui`, 'plugins/import-3x-ui/import.ts'],
  [`POST ${API}x/archive/import`, 'plugins/archive/routes.ts'],
  // No bot is connected here; the plugin backup records the backup and its download.
  [`POST ${API}backuptotgbot`, 'plugins/msg-bot/test/report.test.ts'],
  // No account is linked here.
  [`POST ${API}x/openid/links/{id}/del`, 'plugins/openid/test/login.test.ts'],
  // No backup and no authority are here; each of these calls a hook that is recorded.
  ...['verify', 'delete', 'restore'].map(
    (act) => [`POST ${API}x/backup/${act}/{name}`, 'plugins/backup/archive/archive.ts'] as const,
  ),
  // Nothing is banned here.
  ...['ban', 'unban', 'unbanAll'].map(
    (act) => [`POST ${API}x/ban-guard/${act}`, 'plugins/ban-guard/test/driver-care.test.ts'] as const,
  ),
  // The job of the example has no clients.
  ...['retry', 'stop'].map(
    (act) => [`POST ${API}x/jobs/{id}/${act}`, 'plugins/bulk-jobs/test/recorded.test.ts'] as const,
  ),
  // A full admin is no reseller.
  ...['', '/{id}', '/{id}/reset', '/{id}/renew', '/{id}/del'].map(
    (act) => [`POST ${API}x/reseller/clients${act}`, 'plugins/resellers/test/by-others.test.ts'] as const,
  ),
  // Nor has it a role that is about groups.
  ...['', '/{id}', '/{id}/reset', '/{id}/renew', '/{id}/del'].map(
    (act) => [`POST ${API}x/group-clients/clients${act}`, 'plugins/group-roles/test/edits.test.ts'] as const,
  ),
  [`POST ${API}setting/restartPanel`, 'plugins/audit/test/program.test.ts'],
  [`POST ${API}system/plugins/{name}`, 'plugins/audit/test/program.test.ts'],
  // They change the template and settings, which are recorded.
  [`POST ${API}engine/edgetunnel/{action}`, 'plugins/settings/recorded.ts'],
  [`POST ${API}engine/vpnprovider/{action}`, 'plugins/settings/recorded.ts'],
  [`POST ${API}x/edgetunnel/apply`, 'plugins/core-template/recorded.ts'],
  [`POST ${API}x/vpnprovider/apply`, 'plugins/core-template/recorded.ts'],
  [`POST ${API}server/installEngine/{version}`, 'plugins/engine-versions/test/around-installs.core.test.ts'],
  [`POST ${API}server/updatePanel`, 'plugins/updates/test/updates.test.ts'],
  [`POST ${API}inbounds/{id}/resetTraffic`, 'plugins/audit/test/acts.test.ts'],
  [`POST ${API}inbounds/resetAllTraffics`, 'plugins/audit/test/acts.test.ts'],
  [`POST ${API}server/restartEngineService`, 'plugins/audit/test/acts.core.test.ts'],
  [`GET ${API}server/getConfigJson`, 'plugins/audit/test/acts.core.test.ts'],
  [`POST ${API}engine/resetOutboundsTraffic`, 'plugins/audit/test/acts.test.ts'],
  [`POST ${API}x/outbound-traffic/prune`, 'plugins/audit/test/acts.test.ts'],
  [`DELETE ${API}clients/hwids/{email}`, 'plugins/audit/test/acts.test.ts'],
  [`DELETE ${API}clients/hwids/{email}/{deviceId}`, 'plugins/audit/test/acts.test.ts'],
]);
/** GETs that hand out the credentials of all clients. */
const DOWNLOADS = [
  ...['server/getDb', 'server/getMigration', 'server/getConfigJson', 'clients/export'],
  'x/archive/export',
].map((path) => `GET ${API}${path}`);

/** What makes a change where the example of the route changes nothing. */
const BODIES: Readonly<Record<string, object>> = {
  'clients/bulkAdjust': { emails: ['example'], addBytes: 1000 },
  'server/setUpdateChannel': { dev: true },
  'engine/outbound-subs/{id}/move': { dir: 'down' },
  'x/certificates/{id}/uses': { uses: { subscription: true } },
  'clients/bulkAttach': { emails: ['example'], inboundIds: [2] },
  'hosts/setEnable/{groupId}': { enable: false },
  'hosts/bulk/setEnable': { ids: ['k3w8z1q0v5r7x2m9'], enable: false },
  'engine/update': { engineSetting: { outbounds: [{ tag: 'other', protocol: 'blackhole' }] } },
  'nodes/setEnable/{id}': { enable: true },
  'nodes/mtls/trustCA': { caCert: issue({ name: 'central', isAuthority: true }).cert },
  'clients/groups/delete': { name: 'family' },
  'x/resellers': { admin: 2 },
  'clients/groups/bulkRemove': { emails: ['ada@example.org'] },
};
const PARAMS: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  'system/jobs/{plugin}/{job}': { plugin: 'audit', job: 'remove' },
};
const greetCentral = (panel: TestPanel) =>
  panel.get('/panel/api/x/node/apply', {
    body: { central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10', changes: [] },
  });
/** What is there before a call, where `boot` does not make it. */
const FIRST: Record<string, (panel: TestPanel) => Promise<unknown>> = {
  'clients/bulkAdjust': (panel) =>
    panel.get('/panel/api/clients/update/example', { body: { totalGB: 5000 } }),
  'clients/bulkAttach': (panel) => panel.addInbound(),
  'x/node/centrals/release': greetCentral,
  'x/node/leave': greetCentral,
  'engine/outbound-subs/{id}/move': async (panel) => {
    for (const remark of ['one', 'two'])
      await panel.get('/panel/api/engine/outbound-subs', {
        body: { url: `https://lists.example/${remark}`, remark },
      });
  },
  'hosts/reorder': (panel) =>
    panel.get('/panel/api/hosts/update/k3w8z1q0v5r7x2m9', { body: { sortOrder: 7 } }),
  'x/core-template/restore/{id}': (panel) =>
    panel.get('/panel/api/engine/update', { body: { engineSetting: { outbounds: [] } } }),
  'clients/delDepleted': (panel) =>
    panel.get('/panel/api/clients/update/example', { body: { expiryTime: 1000 } }),
  'clients/delOrphans': (panel) =>
    panel.get('/panel/api/clients/example/detach', { body: { inboundIds: [1] } }),
};
/** Makes what a route changes by its id. */
const made =
  (path: string, body?: object) =>
  (panel: TestPanel): Promise<unknown> =>
    panel.get(`/panel/api/${path}`, body ? { body } : { method: 'POST' });
for (const [routes, first] of [
  [
    ['engine/outbound-subs/{id}', 'engine/outbound-subs/{id}/del'],
    made('engine/outbound-subs', { url: 'https://lists.example/one', remark: 'one' }),
  ],
  [
    ['sub-balancers/{id}', 'sub-balancers/{id}/del'],
    made('sub-balancers', { remark: 'both', strategy: 'random', inboundIds: [1] }),
  ],
  [['x/metrics/token'], made('x/metrics/token')],
  [['x/roles/{id}', 'x/roles/{id}/del'], made('x/roles', { name: 'auditor', permissions: [] })],
  [
    ['x/admins/{id}', 'x/admins/{id}/del'],
    made('x/admins', { username: 'joan', password: 'correct horse battery' }),
  ],
  [['x/resellers'], made('x/admins', { username: 'kay', password: 'correct horse battery' })],
  [['x/resellers/release'], made('x/resellers/1/clients', { emails: ['ada@example.org'] })],
  [['x/nodes/mtls/rotate'], made('nodes/mtls/ca')],
] as const)
  for (const path of routes) FIRST[path] = first;
FIRST['x/nodes/mtls/retire'] = async (panel) => {
  await made('nodes/mtls/ca')(panel);
  await made('x/nodes/mtls/rotate')(panel);
};
const USE = { upload: 1000, download: 2000 };
for (const path of [
  ...['clients/bulkResetTraffic', 'clients/resetAllTraffics', 'clients/resetTraffic/{email}'],
])
  FIRST[path] = async (panel) => {
    for (const email of ['example', 'ada@example.org'])
      await panel.get(`/panel/api/clients/updateTraffic/${email}`, { body: USE });
  };

/** A panel and an API token: some endpoints end the session of their caller. */
async function bootWithToken() {
  const panel = await boot();
  const body = { name: 'recorded' };
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body });
  const asToken = { authorization: `Bearer ${token}` };
  const newest = async (): Promise<number> => {
    const path = '/panel/api/x/audit/changes?limit=1';
    const [last] = await panel.get<{ id: number }[]>(path, { anonymous: true, headers: asToken });
    return last?.id ?? 0;
  };
  return { panel, asToken, newest };
}
type World = Awaited<ReturnType<typeof bootWithToken>>;

test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

async function entryOf({ panel, asToken, newest }: World, served: ServedRoute): Promise<string> {
  const path = served.path.slice(API.length);
  await FIRST[path]?.(panel);
  const sample = sampleOf(served, false, declaredOf(served) !== undefined);
  const body = BODIES[path] ?? sample.body;
  const params = { ...sample.params, ...PARAMS[path] };
  const before = await newest();
  const answer = await call(panel, served, { ...sample, params, body }, asToken, true);
  if (answer.status >= 300 && answer.status !== 502) return answer.text.slice(0, 200);
  return (await newest()) > before ? '' : `no entry: ${answer.text.slice(0, 200)}`;
}

test('every endpoint that changes something is recorded', async (t) => {
  let world = await bootWithToken();
  t.teardown(() => world.panel[Symbol.asyncDispose]());
  const wanted = servedBy(world.panel)
    .filter((served) => served.route.method !== 'GET' || DOWNLOADS.includes(nameOf(served)))
    .filter((served) => !NOT_RECORDED.has(nameOf(served)) && !ELSEWHERE.has(nameOf(served)))
    .filter(({ route: { auth } }) => auth !== 'anyone')
    .sort((a, b) => harm(a) - harm(b));
  t.true(wanted.length > 60);
  const missing: string[] = [];
  for (const served of wanted) {
    // An endpoint before it may have removed what it changes.
    let problem = await entryOf(world, served).catch(String);
    if (problem !== '') {
      await world.panel[Symbol.asyncDispose]();
      world = await bootWithToken();
      problem = await entryOf(world, served).catch(String);
    }
    if (problem !== '') missing.push(`${nameOf(served)}: ${problem}`);
  }
  t.deepEqual(missing, []);
});

test('the lists name endpoints that there are', async (t) => {
  await using panel = await boot();
  const names = new Set(servedBy(panel).map(nameOf));
  for (const name of [...NOT_RECORDED.keys(), ...ELSEWHERE.keys(), ...DOWNLOADS])
    t.true(names.has(name), name);
});
