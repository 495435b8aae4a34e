// Runs Galera and HAProxy.
// What several database servers do that one does not: each has locks of its own, one may be behind, and of two that write at
// once one loses at the commit.
import anyTest, { type TestFn } from 'ava';
import { createConnection } from 'mysql2/promise';
import { whyNoNamespaces } from '../node-soak/places.js';
import { ClusterPanel, type PanelOptions } from './panel.js';
import { whyNoGalera } from './galera.js';
import { World } from './world.js';

const missing = (await whyNoNamespaces()) || whyNoGalera();
const NO_CORE = '/nonexistent/xray';
const SMALL = { WEIR_PRESET: 'minimal', WEIR_ENGINE_INSTALL: 'off' };
const test = anyTest as TestFn<{ world: World }>;
const onGalera = missing === '' ? test.serial : test.skip;
test.before(async (t) => {
  t.timeout(600_000);
  if (missing !== '') {
    if (process.env['CI']) throw new Error(missing);
    return t.log(`left out: ${missing}`);
  }
  t.context.world = await World.open({ binary: NO_CORE, writers: 'own', env: SMALL });
  // On an empty database all migrate at once, each through another server.
  await Promise.all(t.context.world.panels.map((panel) => panel.keepStarting((text) => t.log(text))));
  // A login is a write, too, and may lose against another server's.
  for (const { panel } of t.context.world.panels)
    await panel.until(async () => {
      await panel.login();
      return panel.cookie !== '';
    }, 'the admin is logged in');
});
test.after.always((t) => t.context.world?.dispose());

/** One more panel on the machine of this number. */
function another(world: World, number: number, env: Readonly<Record<string, string>>): ClusterPanel {
  const panel = world.panels[number];
  if (!panel) throw new Error('there is no such panel');
  const options: PanelOptions = {
    ...panel.options,
    folder: 'another',
    env: { ...SMALL, WEIR_PANEL_PORT: '2054', WEIR_SUB_PORT: '2097', ...env },
  };
  return new ClusterPanel(options);
}

onGalera('each migration has run once, though three panels have started at once', async (t) => {
  t.timeout(120_000);
  const { galera, panels } = t.context.world;
  const rows = await galera.servers[0]?.query<{ plugin: string; name: string }>(
    'SELECT plugin, name FROM kernel_migrations',
  );
  const migrated = panels.flatMap(({ log }) =>
    log.flatMap(({ msg, plugin, migration }) => (msg === 'migrated' ? [`${plugin} ${migration}`] : [])),
  );
  for (const { plugin, name } of rows ?? []) t.true(migrated.includes(`${plugin} ${name}`));
  t.true((rows ?? []).length > 10);
});

onGalera('a name is taken, and so is the database for a panel alone, on each server', async (t) => {
  t.timeout(240_000);
  const { world } = t.context;
  const twin = another(world, 1, { WEIR_CLUSTER: 'panel1' });
  t.regex(String(await t.throwsAsync(twin.start())), /another process has the name panel1/);
  const alone = another(world, 2, { WEIR_CLUSTER: '' });
  t.regex(String(await t.throwsAsync(alone.start())), /the panel panel\d uses it, one of several/);
});

onGalera(
  'edits through all servers at once: each is there or was refused, and all panels agree',
  async (t) => {
    t.timeout(240_000);
    const { panels, galera } = t.context.world;
    const done: string[] = [];
    const refused: string[] = [];
    await Promise.all(
      panels.map(async ({ name, panel }) => {
        for (let n = 0; n < 20; n++) {
          const answer = await panel.call('/panel/api/clients/groups/create', {
            body: { name: `${name}-${n}` },
          });
          if (answer.body.success) done.push(`${name}-${n}`);
          else refused.push(`${answer.status} ${answer.body.code}`);
        }
      }),
    );
    t.deepEqual([...new Set(refused)], refused.length > 0 ? ['503 KERNEL_DATABASE_BUSY'] : []);
    t.log(`${done.length} edits, ${refused.length} refusals`);
    t.true(done.length > 0);
    for (const { panel } of panels)
      await panel.until(async () => {
        const groups = await panel.get<{ name: string }[]>('/panel/api/clients/groups');
        return (
          groups
            .map(({ name }) => name)
            .sort()
            .join() === done.toSorted().join()
        );
      }, 'the panel has all edits');
    const [state] =
      (await galera.servers[2]?.query<{ last: number; n: number }>(
        'SELECT (SELECT last FROM cluster_state) AS last, (SELECT MAX(seq) FROM cluster_changes) AS n',
      )) ?? [];
    t.is(Number(state?.n), Number(state?.last), 'numbers have no gap at the end');
  },
);

onGalera('a server that is behind gives no answer from the past', async (t) => {
  t.timeout(240_000);
  const [one, two] = t.context.world.panels;
  const server = t.context.world.galera.servers[1];
  if (!one || !two || !server) throw new Error('there are three of each');
  const lock = await createConnection(server.url);
  // It applies nothing more, and stays a part of the cluster.
  await lock.query('SET GLOBAL wsrep_desync = ON');
  await lock.query('FLUSH TABLES WITH READ LOCK');
  await one.panel.until(
    async () =>
      (await one.panel.call('/panel/api/clients/groups/create', { body: { name: 'new' } })).body.success,
    'the edit in the first panel',
  );
  const rename = two.panel.call('/panel/api/clients/groups/rename', {
    body: { oldName: 'new', newName: 'newer' },
  });
  const early = await Promise.race([rename, new Promise((resolve) => setTimeout(resolve, 3_000))]);
  // Not a word of "there is no such group".
  if (early) t.is((early as Awaited<typeof rename>).status, 503);
  await lock.query('UNLOCK TABLES');
  await lock.query('SET GLOBAL wsrep_desync = OFF');
  await lock.end();
  const answer = await rename;
  t.true(answer.status === 200 || answer.status === 503, answer.text);
});

onGalera('a killed server is found out, and writes go on when it is left out', async (t) => {
  t.timeout(240_000);
  const [one, two] = t.context.world.panels;
  const server = t.context.world.galera.servers[2];
  if (!one || !two || !server) throw new Error('there are three of each');
  const create = (panel: ClusterPanel, name: string) =>
    panel.panel.call('/panel/api/clients/groups/create', { body: { name } });
  await server.kill();
  await one.panel.until(async () => (await create(one, 'while away')).body.success, 'an edit', 60_000);
  t.is((await create(t.context.world.panels[2] ?? one, 'refused')).status, 503);
  await server.start();
  await two.panel.until(async () => (await create(two, 'when back')).body.success, 'an edit', 60_000);
});
