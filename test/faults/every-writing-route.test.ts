// Every endpoint that writes is called by the script whose panel is killed, or stands here with the reason why not.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { lanes } from './script/lanes.js';

const SHOWS = 'it shows something, or makes it for its caller, and stores nothing';
const TESTS = 'it tests what is configured, at other machines';
const OTHER = 'it needs another machine, whose answer decides what is stored';
const OWN_CORE = 'it starts, stops or replaces the core, whose own tests kill panels at that';
const REPORTS = 'a machine repeats it until it is told that it came';
const SAME = 'it writes by the same code as an endpoint of the script';

/** By reason; below /panel/api/ if a path begins without a slash. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  [SHOWS]: [
    ...['/getTwoFactorEnable', 'clients/activeInbounds', 'clients/appLink/{id}', 'clients/clientIpsByGuid'],
    ...['clients/hwids/{email}', 'clients/ips/{email}', 'clients/lastOnline', 'clients/onlines'],
    ...['clients/onlinesByGuid', 'engine/', 'engine/balancerStatus', 'engine/plan', 'engine/routeTest'],
    ...['engine/outbound-subs/parse', 'server/amneziawglogs/{count}', 'server/enginelogs/{count}'],
    ...['server/logs/{count}', 'server/getCertHash', 'server/getRemoteCertHash', 'server/getNewEchCert'],
    ...['server/scanRealityTarget', 'server/scanRealityTargets', 'setting/all', 'setting/defaultSettings'],
    ...['x/passkeys/login/options', 'x/passkeys/register/options'],
    ...['setting/factoryDefaults', 'setting/validateRegex', 'x/geodata/check', 'x/outbound-subs/link'],
    'x/subscription/preview',
  ],
  [TESTS]: [
    ...['engine/testOutbound', 'engine/testOutbounds', 'notifications/test', 'setting/testMsgBot'],
    ...['setting/testSmtp', 'setting/testWebhook', 'nodes/test', 'nodes/inbounds', 'nodes/certFingerprint'],
    ...['nodes/probe/{id}', 'x/event-callbacks/endpoints/{id}/ping'],
  ],
  [OTHER]: [
    ...['backuptotgbot', 'engine/edgetunnel/{action}', 'x/edgetunnel/apply', 'engine/vpnprovider/{action}'],
    ...[
      'x/vpnprovider/apply',
      'engine/outbound-subs/{id}/refresh',
      'server/updateGeofile',
      'nodes/updatePanel',
    ],
    ...['server/updateGeofile/{filename}', 'server/updatePanel', 'x/msg-bot/webhook/{secret}'],
    ...['x/node-sync/{id}/adopt', 'x/node-sync/{id}/reconcile', 'x/node-sync/{id}/release'],
    ...['x/nodes/acceptGuid/{id}', 'x/notifications/deliveries/{id}/redeliver', 'nodes/setEnable/{id}'],
    ...['x/event-callbacks/deliveries/{id}/redeliver', 'x/event-callbacks/endpoints/{id}/redeliver'],
    ...[
      'x/ban-guard/ban',
      'x/ban-guard/unban',
      'x/ban-guard/unbanAll',
      'DELETE clients/hwids/{email}/{deviceId}',
    ],
  ],
  'plugins/resellers/test/kill.test.ts kills one of them, and all are settled by the same code': [
    ...['x/reseller/clients', 'x/reseller/clients/{id}', 'x/reseller/clients/{id}/del'],
    ...['x/reseller/clients/{id}/renew', 'x/reseller/clients/{id}/reset'],
  ],
  'one transaction each with its entry of the record': [
    ...['x/resellers', 'x/resellers/{id}', 'x/resellers/{id}/clients', 'x/resellers/{id}/del'],
    'x/resellers/release',
  ],
  'one write with the role and the group looked at again, by the code that resellers are settled by': [
    ...['x/group-clients/clients', 'x/group-clients/clients/{id}', 'x/group-clients/clients/{id}/del'],
    ...['x/group-clients/clients/{id}/renew', 'x/group-clients/clients/{id}/reset'],
  ],
  'plugins/certificates/test/kill.full.test.ts kills it': [
    'x/certificates/{id}/issue',
    'x/certificates/{id}/uses',
  ],
  'plugins/backup/test/kill.full.test.ts and kill-archive.full.test.ts kill it': [
    ...['server/importDB', 'x/backup/restore/{name}', 'x/backup/verify/{name}', 'x/backup/delete/{name}'],
  ],
  'plugins/bulk-jobs/test/kill.test.ts kills it': ['x/jobs', 'x/jobs/{id}/retry', 'x/jobs/{id}/stop'],
  'plugins/audit/test/undo-killed.test.ts kills it': ['x/audit/{entry}/undo'],
  'test/boot/killed-while-switching.full.test.ts kills it': ['system/plugins/{name}'],
  'it deletes one record after the other, and goes on when it is called again': ['x/node/leave'],
  [OWN_CORE]: [
    ...['server/installEngine/{version}', 'server/restartEngineService', 'server/stopEngineService'],
    ...['engine/balancerOverride', 'setting/restartPanel'],
  ],
  [REPORTS]: [
    ...[
      'inbounds/pushClientTraffics',
      'x/node/addresses',
      'x/node/devices',
      'x/node/elsewhere',
      'x/node/usage/ack',
    ],
  ],
  [SAME]: ['inbounds/{id}/delAllClients', 'x/core-template/restore/{id}'],
  'they need a person who comes back from a provider; plugins/openid/test/login.test.ts': [
    ...['x/openid/login', 'x/openid/link', 'x/openid/links/{id}/del'],
  ],
  'the script needs its own session and password': [
    ...['/login', '/logout', 'access/recoveryCodes/renew', 'access/sessions/revoke/{id}'],
    ...['access/sessions/revokeOthers', 'setting/updateUser', 'x/account/secondFactor'],
    ...['x/account/secondFactor/del', 'x/admins/{id}/secondFactor/del'],
    ...['x/passkeys/login', 'x/passkeys/register', 'x/passkeys/{id}/rename', 'x/passkeys/{id}/del'],
    'x/passkeys/of/{adminId}/del',
  ],
  'one statement each for the authority of nodes; plugins/nodes/test/trust.test.ts': [
    ...['nodes/mtls/ca', 'nodes/mtls/trustCA', 'x/nodes/mtls/retire', 'x/nodes/mtls/rotate'],
  ],
};

const withMethod = (path: string): string => (/^(?:POST|DELETE) /.test(path) ? path : `POST ${path}`);

test('every endpoint that writes is in the script, or left out with a reason', async (t) => {
  const root = await sourceRoot();
  const { paths } = JSON.parse(await readFile(new URL('docs/reference/api.json', root), 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'get')
      .map((method) => `${method.toUpperCase()} ${path.replace('/panel/api/', '')}`),
  );
  const never = () => Promise.reject(new Error('nothing is called here'));
  const called = lanes({ archive: never, oldPort: 0, oldPanel: never })
    .flat()
    .map(({ route }) => route);
  const left = Object.values(LEFT_OUT).flat().map(withMethod);
  t.deepEqual(
    all.filter((route) => !called.includes(route) && !left.includes(route)),
    [],
    'neither called nor left out',
  );
  t.deepEqual(
    [...called, ...left].filter((route) => !all.includes(route)),
    [],
    'there is no such endpoint',
  );
  t.deepEqual(
    left.filter((route) => called.includes(route)),
    [],
    'called after all',
  );
});
