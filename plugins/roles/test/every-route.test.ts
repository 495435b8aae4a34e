// Runs on every database in test:full.
// Every route of the panel, called by admins of small roles: it is open to them only as its class says.
import test from 'ava';
import nock from 'nock';
import {
  call,
  harm,
  nameOf,
  sampleOf,
  servedBy,
  boot as bootWithSamples,
} from '../../../test/contract/samples.js';
import type { ServedRoute } from '../../../kernel/index.js';
import type { TestPanel } from '../../../test/harness/panel.js';
import { ANY, FULL, OTHER, READING } from '../call-lists.js';
import { needsOf } from '../needs.js';
import { FULL_ONLY, RESOURCES } from '../resources.js';
import { addAdmin, type Caller } from './world.js';

test.before(() => {
  // Examples name hosts elsewhere; no test may call them.
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

const needs = ({ plugin, path, route: { method } }: ServedRoute) => needsOf({ plugin, method, path });
const REFUSED = 'ACCESS_NO_PERMISSION';

/** Calls every route that asks for a login; resolves with those that were refused for want of a permission. */
async function refusedTo(panel: TestPanel, headers: Record<string, string>, routes: readonly ServedRoute[]) {
  const refused: string[] = [];
  for (const served of routes) {
    const answer = await call(panel, served, sampleOf(served, false), headers, true);
    if (answer.body.code === REFUSED) {
      if (answer.status !== 403) throw new Error(`${nameOf(served)}: ${answer.status}`);
      refused.push(nameOf(served));
    }
    if (answer.status === 401) throw new Error(`${nameOf(served)}: ${answer.text}`);
  }
  return refused.sort();
}

const loggedIn = (panel: TestPanel): ServedRoute[] =>
  servedBy(panel)
    .filter(({ route }) => route.auth !== 'anyone')
    .sort((a, b) => harm(a) - harm(b));

test('the lists name calls that there are, and each plugin with routes is in one place', async (t) => {
  await using panel = await bootWithSamples();
  const names = new Set(servedBy(panel).map(nameOf));
  const listed = [...ANY, ...FULL, ...READING, ...OTHER.keys()];
  t.deepEqual(
    listed.filter((name) => !names.has(name) && name !== 'GET /socket.io'),
    [],
  );
  t.is(new Set(listed).size, listed.length, 'each once');
  const placed = [...FULL_ONLY, ...Object.values(RESOURCES).flatMap(({ plugins }) => plugins)];
  t.is(new Set(placed).size, placed.length, 'each plugin once');
  const serving = new Set(loggedIn(panel).map(({ plugin }) => plugin));
  t.deepEqual(
    [...serving].filter((plugin) => !placed.includes(plugin)),
    [],
    'decide in resources.ts what resource its calls belong to',
  );
});

/** Written out, so that a route which becomes readable for a role is seen by a person. */
const READ_BY_POST = [
  ...['clients/activeInbounds', 'clients/appLink/{id}', 'clients/clientIpsByGuid', 'clients/hwids/{email}'],
  ...['clients/ips/{email}', 'clients/lastOnline', 'clients/onlines', 'clients/onlinesByGuid'],
  ...['engine/', 'engine/balancerStatus', 'engine/routeTest', 'server/amneziawglogs/{count}'],
  ...['server/enginelogs/{count}', 'server/getNewEchCert', 'server/logs/{count}', 'setting/all'],
  ...['setting/factoryDefaults', 'setting/validateRegex', 'x/audit/verify', 'x/geodata/check'],
].map((path) => `POST /panel/api/${path}`);

test('a role that only reads calls what reads, and nothing that changes', async (t) => {
  await using panel = await bootWithSamples();
  const everything = Object.keys(RESOURCES).map((name) => `${name}:read`);
  const auditor = await addAdmin(panel, 'auditor', everything);
  const routes = loggedIn(panel);
  const before = await newestChange(panel);
  // Those of the own account would end its session.
  const called = routes.filter((served) => !ANY.has(nameOf(served)));
  t.true(called.length > 200);
  const refused = await refusedTo(panel, headersOf(auditor), called);
  const wanted = called.filter((served) => {
    const { permissions, onlyFull } = needs(served);
    return onlyFull || permissions.some((one) => one.endsWith(':write'));
  });
  t.deepEqual(refused, wanted.map(nameOf).sort());
  const open = called.filter((served) => !refused.includes(nameOf(served)));
  t.deepEqual(
    open
      .filter(({ route }) => route.method !== 'GET')
      .map(nameOf)
      .sort(),
    READ_BY_POST.sort(),
    'only these calls that are no GET are open to it',
  );
  const changes = (await newestChange(panel)).filter((entry) => !before.includes(entry));
  t.deepEqual(changes, [], 'nothing was changed');
});

test('a role without permissions reaches only the own account, and every other call names what it lacks', async (t) => {
  await using panel = await bootWithSamples();
  const nobody = await addAdmin(panel, 'nobody', []);
  const routes = loggedIn(panel).filter((served) => !ANY.has(nameOf(served)));
  const headers = headersOf(nobody);
  t.deepEqual(await refusedTo(panel, headers, routes), routes.map(nameOf).sort());
  for (const served of routes) {
    const answer = await call(panel, served, sampleOf(served, false), headers, true);
    const [first] = needs(served).permissions;
    t.true(
      answer.body.msg.includes(first ?? 'only a full admin may call'),
      `${nameOf(served)}: ${answer.body.msg}`,
    );
  }
});

test('a role that may write everything gives nobody rights', async (t) => {
  await using panel = await bootWithSamples();
  const most = await addAdmin(
    panel,
    'most',
    Object.keys(RESOURCES).map((name) => `${name}:write`),
  );
  const headers = headersOf(most);
  const full = loggedIn(panel).filter((served) => needs(served).onlyFull);
  t.deepEqual(await refusedTo(panel, headers, full), full.map(nameOf).sort());
  const guarded = full.map(nameOf);
  for (const path of [
    ...['POST /panel/api/x/roles', 'POST /panel/api/x/roles/{id}', 'POST /panel/api/x/admins'],
    ...[
      'POST /panel/api/x/admins/{id}',
      'POST /panel/api/x/admins/{id}/del',
      'POST /panel/api/setting/update',
    ],
    ...['POST /panel/api/server/importDB', 'GET /panel/api/server/getDb', 'POST /panel/api/engine/update'],
    ...[
      'POST /panel/api/system/plugins/{name}',
      'POST /panel/api/x/node/apply',
      'POST /panel/api/x/import/3x-ui',
    ],
    ...['POST /panel/api/nodes/mtls/trustCA', 'POST /panel/api/x/archive/import'],
    ...['POST /panel/api/x/admins/{id}/secondFactor/del', 'POST /panel/api/x/metrics/token'],
    'POST /panel/api/x/passkeys/of/{adminId}/del',
  ])
    t.true(guarded.includes(path), path);
});

test('a full admin is refused nothing', async (t) => {
  await using panel = await bootWithSamples();
  const grace = await addAdmin(panel, 'grace');
  const gets = loggedIn(panel).filter(({ route }) => route.method === 'GET');
  t.deepEqual(await refusedTo(panel, headersOf(grace), gets), []);
});

function headersOf({ cookie, csrf }: Caller) {
  return { cookie, 'x-csrf-token': csrf };
}
/** Acts that change no record, as a download, are left out. */
async function newestChange(panel: TestPanel): Promise<number[]> {
  const entries = await panel.get<{ id: number; kind: string }[]>('/panel/api/x/audit/changes?limit=50');
  return entries.filter(({ kind }) => kind !== 'done').map(({ id }) => id);
}
