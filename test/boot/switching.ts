// A panel whose plugins a test enables and disables over the API.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Answer } from '../harness/api.js';
import type { Check } from '../../panel/check-in-child.js';
import { PanelProcess } from '../harness/panel-process.js';
import { ProgramPanel } from '../harness/program-panel.js';

/** A core is not needed here, so none is looked for. */
export const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' };
export const PLUGINS = '/panel/api/system/plugins';

export interface Listed {
  readonly name: string;
  readonly state: string;
  readonly reason: string;
}
export interface Switched {
  readonly name: string;
  readonly enable: boolean;
  readonly restarting: boolean;
}

export async function folderWith(
  t: ExecutionContext,
  config?: unknown,
  indent = 2,
): Promise<{ readonly dataDirectory: string; readonly path: string }> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const path = join(dataDirectory, 'weir.json');
  if (config !== undefined) await writeFile(path, JSON.stringify(config, undefined, indent), { mode: 0o640 });
  return { dataDirectory, path };
}

/** In the process of the test; plugins that end or block a process need `checkInChild` as their check. */
export async function open(
  t: ExecutionContext,
  dataDirectory: string,
  env: Record<string, string> = {},
  check?: Check,
): Promise<ProgramPanel> {
  const panel = await ProgramPanel.start({
    dataDirectory,
    env: { ...NO_CORE, ...env },
    ...(check && { check }),
  });
  t.teardown(() => panel.stop());
  return panel;
}

export async function openProcess(
  t: ExecutionContext,
  dataDirectory: string,
  env: Record<string, string> = {},
): Promise<PanelProcess> {
  const panel = await PanelProcess.start({ dataDirectory, env: { ...NO_CORE, ...env } });
  t.teardown(() => panel.kill('SIGKILL'));
  return panel;
}

type Panel = PanelProcess | ProgramPanel;

export const ask = (panel: Panel, name: string, enable: unknown): Promise<Answer<Switched>> =>
  panel.call(`${PLUGINS}/${name}`, { body: { enable } });

/** Asks, and waits until the panel is back; a start that fails brings another one. */
export async function switched(
  t: ExecutionContext,
  panel: Panel,
  name: string,
  enable: boolean,
  starts = 1,
): Promise<void> {
  const before = panel.starts;
  const { status, body } = await ask(panel, name, enable);
  t.deepEqual([status, body.obj], [202, { name, enable, restarting: true }], body.msg);
  await panel.until(() => panel.starts >= before + starts, 'the panel is back');
}

export const listed = async (panel: Panel, name: string): Promise<Listed | undefined> =>
  (await panel.get<Listed[]>(PLUGINS)).find((plugin) => plugin.name === name);

/** A third-party plugin whose start does this, if it has one, and this when it is imported. */
export async function outsider(
  t: ExecutionContext,
  name: string,
  start: string,
  imported = '',
): Promise<string> {
  const folder = join((await folderWith(t)).dataDirectory, `weir-plugin-${name}`);
  await mkdir(folder);
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({
      name: `weir-plugin-${name}`,
      version: '1.0.0',
      type: 'module',
      exports: './index.js',
      weir: { api: 1 },
    }),
  );
  await writeFile(
    join(folder, 'index.js'),
    `import { createServer } from 'node:net';
import { definePlugin } from '@weir-panel/weir/kernel';
const server = createServer();
${imported}
export default definePlugin({ name: '${name}', version: '1.0.0', api: 1, about: 'For a test.', ${start === '' ? '' : `start: async () => { ${start} },`} stop: () => void server.close() });
`,
  );
  return `path:${folder}`;
}
