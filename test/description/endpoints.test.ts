// The tables of the sections together: complete, each endpoint once, and each served.
import test from 'ava';
import { bootWithoutCore } from '../harness/reference.js';
import { ACCESS, SETTINGS } from './access.js';
import { CLIENTS, MANY_CLIENTS } from './clients.js';
import { ENGINE, REMOTE } from './engine.js';
import { HOSTS } from './hosts.js';
import { INBOUNDS } from './inbounds.js';
import { NODES } from './nodes.js';
import { DATABASE, SERVER, SERVER_WITH_CORE } from './server.js';
import { BALANCERS, SUBSCRIPTION_SERVER } from './subscriptions.js';

const TABLES = [
  ...[ACCESS, SETTINGS, CLIENTS, MANY_CLIENTS, ENGINE, REMOTE, HOSTS, INBOUNDS, NODES],
  ...[DATABASE, SERVER, SERVER_WITH_CORE, BALANCERS],
];
/** Endpoints of the API description; access.test.ts opens the live stream, subscriptions.test.ts fetches. */
const DESCRIBED = [...TABLES.flatMap((table) => Object.keys(table)), 'GET /ws', ...SUBSCRIPTION_SERVER];
const COUNT = 186;

/** Of ours alone, beside everything below /panel/api/x/ and /panel/x/, the web page, and what plugins call by their own name. */
const OWN =
  /^\/panel\/api\/(?:(?:x|access|system|notifications)\/|engine\/plan$|backuptotgbot$|setting\/(?:remoteTexts|subscriptionPreview)$)|^\/panel\/x\/|^\/(?:healthz|readyz|metrics|panel|panel\/\{\}|panel\/plugin-pages\/\{\})?$/;
const AT = '/panel/api/server';
const FORMS = [
  ...['updatePanel', 'setUpdateChannel', 'logs/{count}', 'enginelogs/{count}', 'amneziawglogs/{count}'],
  ...['getNewEchCert', 'getCertHash', 'getRemoteCertHash', 'scanRealityTarget', 'scanRealityTargets'],
].map((path) => `${AT}/${path}`);
const MORE_FORMS = [
  '/panel/api/inbounds/import',
  '/panel/api/sub-balancers',
  '/panel/api/sub-balancers/{id}',
];

const unnamed = (endpoint: string): string => endpoint.replaceAll(/\{[^}]+\}/g, '{}');

test('every endpoint of the API description is served, and stands in one table', async (t) => {
  await using panel = await bootWithoutCore();
  t.is(DESCRIBED.length, COUNT);
  t.is(new Set(DESCRIBED).size, COUNT, 'each once');
  const served = panel.kernel.listeners
    .routes()
    .filter(({ route }) => route.listener === 'panel')
    .map(({ route, path }) => unnamed(`${route.method} ${path}`));
  const described = new Set(DESCRIBED.map(unnamed));
  const fetched = new Set(SUBSCRIPTION_SERVER);
  // A WebSocket is no route; access.test.ts opens it.
  t.deepEqual(
    [...described].filter((name) => !served.includes(name) && !fetched.has(name) && name !== 'GET /ws'),
    [],
    'described and not served',
  );
  const others = served.filter((name) => !described.has(name) && !OWN.test(name.split(' ')[1] ?? ''));
  t.deepEqual(others.sort(), [], 'served, and neither described nor of ours alone');
});

test('what the description calls form-encoded takes JSON too', async (t) => {
  await using panel = await bootWithoutCore();
  const document = await panel.get<{
    paths: Record<string, { post?: { requestBody?: { content: object } } }>;
  }>('/panel/api/openapi.json');
  for (const path of [...FORMS, ...MORE_FORMS])
    t.deepEqual(
      Object.keys(document.paths[path]?.post?.requestBody?.content ?? {}).sort(),
      ['application/json', 'application/x-www-form-urlencoded'],
      path,
    );
});

test('an email that is a segment of a path is refused', async (t) => {
  await using panel = await bootWithoutCore();
  const id = await panel.addInbound();
  const segments = new Set(
    panel.kernel.listeners
      .routes()
      .flatMap(({ path }) => /^\/panel\/api\/clients\/([^/{]+)/.exec(path)?.[1] ?? []),
  );
  t.true(segments.size > 25);
  for (const email of segments) {
    const { status } = await panel.call('/panel/api/clients/add', {
      body: { client: { email }, inboundIds: [id] },
    });
    t.is(status, 400, email);
  }
});
