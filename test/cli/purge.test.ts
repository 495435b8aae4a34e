// Runs on every database in test:full.
// `weir purge`: what a plugin that is off has left, told and dropped.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { weir } from '../../cli/weir.js';
import { connect } from '../../kernel/database/connect.js';
import { pluginDataOf } from '../../panel/plugin-data.js';
import { databaseEnvironment, dropDatabase, onSqlite } from '../harness/database.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { folderOf, source, thirdParty, writeFiles } from '../outside/third-party.js';

const WELL = `uses: { settings: token('settings', 'Settings') },
  tables: { drops: table('x_well_drops', { id: column.id() }) },
  migrations: [
    { name: '0001-drops', up: ({ id, integer }) => [\`CREATE TABLE x_well_drops (id \${id}, a \${integer})\`, 'INSERT INTO x_well_drops (a) VALUES (1)', 'INSERT INTO x_well_drops (a) VALUES (2)'] },
    { name: '0002-rings', up: ({ id, integer }) => [\`CREATE TABLE x_well_rings (id \${id}, drop_id BIGINT, FOREIGN KEY (drop_id) REFERENCES x_well_drops (id))\`, 'INSERT INTO x_well_rings (drop_id) VALUES (1)'] },
    { name: '0003-deep', up: () => ["INSERT INTO settings (name, value) VALUES ('well.depth', '3'), ('wells.depth', '4')"] },
  ]`;
const HOUSE = `migrations: [{ name: '0001-a', up: ({ id }) => [\`CREATE TABLE x_well_house_a (id \${id})\`] }]`;

interface World {
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  purge(...argv: string[]): Promise<{ code: number; said: string; complained: string }>;
  start(): Promise<ProgramPanel>;
  on(plugins: Readonly<Record<string, unknown>>): Promise<void>;
  /** names of tables */
  tables(): Promise<string[]>;
}

/** A panel that has run once with `well`, whose tables begin as those of `well-house` do. */
async function world(t: ExecutionContext): Promise<World> {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const well = await thirdParty(shop, 'well', source('well', WELL, 'table, column, token'));
  const house = await thirdParty(shop, 'well-house', source('well-house', HOUSE));
  const env = { ...(await databaseEnvironment(data)), WEIR_ENGINE_BIN: '/nowhere/core' };
  t.teardown(() => dropDatabase(data));
  const made: World = {
    data,
    env,
    purge: async (...argv) => {
      const said: string[] = [];
      const complained: string[] = [];
      const terminal = {
        say: (line: string) => said.push(line),
        complain: (line: string) => complained.push(line),
      };
      return {
        code: await weir(['purge', ...argv], { ...env, WEIR_DATA_DIR: data }, terminal),
        said: said.join('\n'),
        complained: complained.join('\n'),
      };
    },
    start: async () => {
      const panel = await ProgramPanel.start({ dataDirectory: data, env });
      t.teardown(() => panel.stop());
      return panel;
    },
    on: (plugins) =>
      writeFiles(data, { 'weir.json': { plugins: { [well]: false, [house]: true, ...plugins } } }),
    tables: async () => {
      const connections = await connect(env['WEIR_DATABASE_URL' as keyof typeof env], data);
      try {
        const { tables } = await pluginDataOf(connections, {
          name: 'well',
          builtIn: undefined,
          shared: new Set(),
        });
        return tables.map(({ name }) => name);
      } finally {
        await connections.close();
      }
    },
  };
  await made.on({ [well]: true });
  await (await made.start()).stop();
  return made;
}

test('lists the tables of a disabled third-party plugin, then drops them, and no others', async (t) => {
  const { data, purge, on, start, tables } = await world(t);
  const isOn = await purge('well', '--yes');
  t.regex(
    isOn.complained,
    /^the plugin well is enabled; disable it in .*weir\.json and restart the panel first$/,
  );
  t.is(isOn.code, 1);

  await on({});
  const told = await purge('well');
  t.deepEqual(
    [told.code, told.complained],
    [1, 'nothing was changed; weir purge well --yes deletes this permanently'],
  );
  t.deepEqual(
    told.said.split('\n').map((line) => line.trim().replace(/ {2,}/, ': ')),
    [
      'data of the plugin well:',
      'table x_well_drops: 2 rows',
      'table x_well_rings: 1 row',
      'setting well.depth',
      ...['0001-drops', '0002-rings', '0003-deep'].map(
        (name) => `migration ${name}: its entry in the migration history`,
      ),
    ],
  );
  t.deepEqual(await tables(), ['x_well_drops', 'x_well_rings']);

  const dropped = await purge('well', '--yes');
  t.deepEqual([dropped.code, dropped.complained], [0, '']);
  t.true(dropped.said.startsWith('deleted:\n'), dropped.said);
  t.deepEqual(await tables(), []);
  if (onSqlite)
    t.is((await readdir(join(data, 'backups'))).filter((name) => dropped.said.includes(name)).length, 1);
  const again = await purge('well', '--yes');
  t.deepEqual(
    [again.code, again.said],
    [0, 'the database has no data of a plugin well; did you mean well-house?'],
  );

  // What is still on starts as before, with what it had.
  const panel = await start();
  t.like(
    (await panel.get<{ name: string; state: string }[]>('/panel/api/system/plugins')).find(
      ({ name }) => name === 'well-house',
    ),
    { state: 'running' },
  );
  await panel.stop();
});

test('refuses an essential, enabled or broken plugin, and a folder that does not exist', async (t) => {
  const { purge, on, data, env } = await world(t);
  await on({ 'sub-links': true });
  for (const [name, said] of [
    ['clients', /^clients is essential: the panel cannot start without it/],
    ['kernel', /^kernel is essential/],
    ['subscription', /^the plugin subscription is enabled; disable it in /],
  ] as const) {
    const { code, said: out, complained } = await purge(name, '--yes');
    t.deepEqual([code, out], [1, ''], name);
    t.regex(complained, said);
  }
  const broken = await thirdParty(join(data, 'shop'), 'broken', "throw new Error('not today');");
  await on({ [broken]: true });
  t.regex(
    (await purge('broken', '--yes')).complained,
    /^the plugin broken is enabled but cannot run \(.*not today.*\); disable it in /,
  );
  const complained: string[] = [];
  const terminal = { say: () => undefined, complain: (line: string) => complained.push(line) };
  t.is(await weir(['purge', 'well', '--yes'], { ...env, WEIR_DATA_DIR: join(data, 'none') }, terminal), 1);
  t.regex(complained.join(), /^there is no panel in .*none; set WEIR_DATA_DIR/);
});

if (onSqlite)
  test('beside a panel that runs: not what it still has, and nobody is kept from writing', async (t) => {
    const { purge, on, start, tables } = await world(t);
    await on({});
    const panel = await start();
    t.is((await purge('well', '--yes')).code, 0);
    t.deepEqual(await tables(), []);
    t.is((await panel.call('/panel/api/setting/update', { body: { subTitle: 'Ours' } })).status, 200);
    await panel.addInbound();

    // Of this tree: by what it declares, once the panel that has it is gone.
    await on({ subscription: false });
    const has = await purge('subscription');
    t.regex(has.complained, /^the running panel still has the plugin subscription; restart the panel first$/);
    await panel.stop();
    const { code, said } = await purge('subscription', '--yes');
    t.is(code, 0);
    t.regex(said, /^ {2}setting subTitle$/m);
    t.notRegex(said, /table|webBasePath/);
  });
