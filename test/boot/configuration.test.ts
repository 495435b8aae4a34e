// The panel and its config file: precedence, and what a start that cannot be says, as a process.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { PanelProcess } from '../harness/panel-process.js';
import { ProgramPanel } from '../harness/program-panel.js';

/** A core is not needed here, so none is looked for. */
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };

async function dataFolder(
  t: ExecutionContext,
  config: unknown,
): Promise<{ dataDirectory: string; path: string }> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const path = join(dataDirectory, 'weir.json');
  await writeFile(path, JSON.stringify(config));
  return { dataDirectory, path };
}

test('a path below which the panel is served: environment, then what an admin saved, then the file', async (t) => {
  const { dataDirectory } = await dataFolder(t, {
    logLevel: 'warn',
    plugins: { settings: { config: { basePath: '/from-file/' } } },
  });
  const start = async (basePath: string): Promise<ProgramPanel> => {
    const panel = await ProgramPanel.start({
      dataDirectory,
      env: { ...NO_CORE, WEIR_BASE_PATH: basePath, WEIR_LOG_LEVEL: 'info' },
    });
    t.teardown(() => panel.stop());
    return panel;
  };
  const settings = (panel: ProgramPanel) =>
    panel.get<{ webBasePath: string; pinned: Record<string, string> }>('/panel/api/setting/all', {
      method: 'POST',
    });

  const first = await start('');
  t.true(first.ready.panelUrl.endsWith('/from-file/'), first.ready.panelUrl);
  t.like(await settings(first), { webBasePath: '/from-file/', pinned: { webBasePath: undefined } });
  await first.get('/panel/api/setting/update', { body: { webBasePath: '/from-admin/' } });
  await first.stop();

  const second = await start('');
  t.true(second.ready.panelUrl.endsWith('/from-admin/'), second.ready.panelUrl);
  await second.stop();

  const third = await start('/from-environment/');
  t.true(third.ready.panelUrl.endsWith('/from-environment/'), third.ready.panelUrl);
  t.like(await settings(third), {
    webBasePath: '/from-environment/',
    pinned: { webBasePath: 'WEIR_BASE_PATH' },
  });
  await third.stop();
});

test('a start that cannot be ends with code 1 and names everything that is wrong, in environment and file', async (t) => {
  const { dataDirectory, path } = await dataFolder(t, {
    hots: '::1',
    plugins: { subscripton: true, engine: { config: { private: 'perhaps' } } },
  });
  const error = await t.throwsAsync(
    PanelProcess.start({
      dataDirectory,
      env: {
        ...NO_CORE,
        WEIR_PANEL_PORT: '70000',
        WEIR_TRUSTED_PROXIES: '10.0.0.0/33',
        WEIR_SUB_PORT: 'many',
        WEIR_ENGINE_PRIVATE: '',
      },
    }),
  );
  const said = error.message;
  t.true(said.includes('{"code":1,"signal":null}'), said);
  for (const part of [
    'the panel could not start',
    `there is no plugin subscripton: plugins/subscripton/index is missing (plugins.subscripton in ${path})`,
    'WEIR_PANEL_PORT must be less than or equal to 65535',
    'WEIR_TRUSTED_PROXIES: ',
    `hots in ${path} is unknown; kernel has preset, host`,
    `plugins.engine.config.private in ${path} must be one of [allow, block]`,
    'WEIR_SUB_PORT must be a number',
  ])
    t.true(said.includes(part), `${part}\nin: ${said}`);
});

test('an unknown preset and a named config file that is missing are among what is wrong', async (t) => {
  const { dataDirectory } = await dataFolder(t, {});
  const env = { ...NO_CORE, WEIR_PRESET: 'huge', WEIR_CONFIG: '/nowhere/weir.json' };
  const { message: said } = await t.throwsAsync(ProgramPanel.start({ dataDirectory, env }));
  t.true(said.includes('WEIR_PRESET must be one of [minimal, standard, full]'), said);
  t.true(said.includes('WEIR_CONFIG is /nowhere/weir.json, but there is no such file'), said);
});

test('a start that fails is one sentence; the stack is for those who ask for it', async (t) => {
  const { dataDirectory } = await dataFolder(t, {});
  await writeFile(
    join(dataDirectory, 'weir.sqlite'),
    'This is a letter, and far longer than a header of SQLite. '.repeat(9),
  );
  const start = async (level: string): Promise<string> => {
    const starting = PanelProcess.start({
      dataDirectory,
      env: { ...NO_CORE, WEIR_PRESET: 'minimal', WEIR_LOG_LEVEL: level },
    });
    return (await t.throwsAsync(starting)).message;
  };
  const said = await start('info');
  t.regex(
    said,
    /the database in \S+ cannot be opened: SQLITE_NOTADB: file is not a database; .*`weir restore <file>`/,
  );
  t.notRegex(said, /"stack"/);
  t.regex(await start('debug'), /"stack"/);
});

test('a database with damaged pages is named, with the way back', async (t) => {
  const { dataDirectory } = await dataFolder(t, {});
  const env = { ...NO_CORE, WEIR_PRESET: 'minimal' };
  await (await PanelProcess.start({ dataDirectory, env })).kill('SIGTERM');
  const file = join(dataDirectory, 'weir.sqlite');
  // The first tables, without those that say which tables there are: it is noticed when they are read.
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xa5, 2 * 4096, 10 * 4096));
  const starting = PanelProcess.start({ dataDirectory, env });
  const { message } = await t.throwsAsync(starting);
  t.regex(message, /the database is damaged; check its disk, then restore a backup \(weir restore\)/);
});
