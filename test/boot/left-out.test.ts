// Every plugin that is not essential, left out by the config file: what it served is gone, and the rest is as it was.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Plugin } from '../../kernel/plugin/define.js';
import { PluginError } from '../../kernel/plugin/error.js';
import { bootPanel } from '../../panel/boot.js';
import { choosePlugins, readPreset } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { environmentOf } from '../harness/api.js';
import { TestPanel } from '../harness/panel.js';

const all = await findPlugins(await readPreset('full'));
const optional = all.filter(({ essential }) => !essential).map(({ name }) => name);

/** A core is not needed here, so none is looked for. */
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' };
const OPENAPI = '/panel/api/openapi.json';

/** Those that need this one, and those that need them. */
function usersOf(name: string, plugins: readonly Plugin[] = all): string[] {
  const direct = plugins.filter(({ uses }) =>
    Object.values(uses).some((used) => used.kind === 'token' && used.owner === name),
  );
  return [...new Set(direct.flatMap((user) => [user.name, ...usersOf(user.name, plugins)]))].sort();
}

async function folderWith(t: ExecutionContext, plugins: Readonly<Record<string, unknown>>): Promise<string> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  await writeFile(join(dataDirectory, 'weir.json'), JSON.stringify({ preset: 'full', plugins }));
  return dataDirectory;
}

interface Opened {
  readonly panel: TestPanel;
  readonly chosen: Awaited<ReturnType<typeof choosePlugins>>;
}

/** A panel of the plugins that its config file leaves on. */
async function open(t: ExecutionContext, plugins: Readonly<Record<string, unknown>> = {}): Promise<Opened> {
  const dataDirectory = await folderWith(t, plugins);
  const env = { ...environmentOf(dataDirectory), ...NO_CORE };
  const chosen = await choosePlugins(env, await readConfigFile(env));
  const on = chosen.plugins.map(({ name }) => name);
  const panel = await TestPanel.boot({
    plugins: chosen.plugins,
    without: all.map(({ name }) => name).filter((name) => !on.includes(name)),
    env,
    dataDirectory,
  });
  t.teardown(() => panel.stop());
  return { panel, chosen };
}

interface Served {
  readonly plugin: string;
  readonly method: string;
  readonly path: string;
}
/** Of the panel's listener; paths of others are made up by each panel for itself. */
const servedBy = (panel: TestPanel): Served[] =>
  panel.kernel.listeners
    .routes()
    .flatMap(({ plugin, path, route }) =>
      route.listener === 'panel' ? [{ plugin, method: route.method, path }] : [],
    );
const id = ({ method, path }: Served): string => `${method} ${path}`;
/** As a caller asks for it. */
const asked = (path: string): string => path.replaceAll(/\{[^}]+\}/g, '1');

async function documented(panel: TestPanel): Promise<string[]> {
  const { paths } = await panel.get<{ paths: Record<string, object> }>(OPENAPI);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Status of every GET that needs no parameter. */
async function statuses(panel: TestPanel, routes: readonly Served[]): Promise<Record<string, number>> {
  const plain = routes.filter(
    ({ method, path }) => method === 'GET' && path.startsWith('/panel/api/') && !path.includes('{'),
  );
  return Object.fromEntries(
    await Promise.all(plain.map(async ({ path }) => [path, (await panel.call(path)).status] as const)),
  );
}

/** What an admin does on the first day, as far as plugins for it are on. */
async function firstDay(t: ExecutionContext, panel: TestPanel, on: ReadonlySet<string>): Promise<void> {
  const inbound = await panel.addInbound();
  const { subId, uuid } = await panel.addClient('ann', [inbound], { totalGB: 1_000_000 });
  t.like(await panel.get('/panel/api/clients/get/ann'), { email: 'ann', enable: true });
  t.is((await panel.get<object[]>('/panel/api/inbounds/list')).length, 1);
  t.like(await panel.get('/panel/api/clients/traffic/ann'), {
    email: 'ann',
    total: 1_000_000,
    up: 0,
    down: 0,
  });
  await panel.get('/panel/api/clients/update/ann', { body: { email: 'ann', comment: 'changed' } });
  t.like(await panel.get('/panel/api/clients/get/ann'), { comment: 'changed', uuid });
  t.is(panel.kernel.listeners.port('subscription') > 0, on.has('subscription'));
  if (!on.has('sub-links')) return;
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = await fetch(`${panel.subscriptionUrl}${subPath}${subId}`);
  t.is(fetched.status, 200);
  t.true(
    Buffer.from(await fetched.text(), 'base64')
      .toString()
      .startsWith(`vless://${uuid}@`),
  );
}

let whole: {
  readonly routes: Served[];
  readonly document: string[];
  readonly statuses: Record<string, number>;
};
test.before(async (t) => {
  // The hook's own teardown would come after all tests.
  await using panel = await TestPanel.boot({ plugins: all, env: NO_CORE });
  const routes = servedBy(panel);
  whole = { routes, document: await documented(panel), statuses: await statuses(panel, routes) };
  t.true(optional.length >= 9 && routes.length > 50, 'the plugins were not found');
});

for (const name of optional) {
  const gone = [name, ...usersOf(name)];

  test.serial(`without ${gone.join(', ')} the rest works as before`, async (t) => {
    const { panel, chosen } = await open(t, { [name]: false });
    const on = new Set(panel.kernel.plugins().map((plugin) => plugin.name));
    t.deepEqual(
      [...on].sort(),
      all
        .map((plugin) => plugin.name)
        .filter((plugin) => !gone.includes(plugin))
        .sort(),
    );
    // Those that go along are named, with whom they miss.
    t.deepEqual(chosen.leftOut.map((plugin) => plugin.name).sort(), gone.slice(1));
    for (const { name: user, reason } of chosen.leftOut)
      t.regex(reason, new RegExp(`^plugin ${user} needs the plugin (?:${gone.join('|')}), which .*; `));

    const stays = whole.routes.filter(({ plugin }) => on.has(plugin) || plugin === 'kernel');
    t.deepEqual(servedBy(panel).map(id), stays.map(id));
    for (const route of whole.routes.filter((served) => !stays.includes(served))) {
      const { status, body } = await panel.call(asked(route.path), {
        method: route.method,
        ...(route.method !== 'GET' && { body: {} }),
      });
      t.deepEqual([status, body.code ?? ''], [404, 'KERNEL_NOT_FOUND'], id(route));
    }
    if (on.has('api-docs')) {
      const left = new Set(stays.map(id));
      t.deepEqual(
        await documented(panel),
        whole.document.filter((entry) => left.has(entry)),
      );
    }
    const before = Object.fromEntries(
      Object.entries(whole.statuses).filter(([path]) => stays.some((route) => route.path === path)),
    );
    t.deepEqual(await statuses(panel, stays), before);
    await firstDay(t, panel, on);
  });

  if (gone.length > 1)
    test.serial(
      `${name} cannot be off while the file itself switches on ${gone.slice(1).join(' or ')}`,
      async (t) => {
        for (const user of gone.slice(1)) {
          const env = { ...environmentOf(await folderWith(t, { [name]: false, [user]: true })), ...NO_CORE };
          const error = await t.throwsAsync(
            bootPanel({
              ...(await choosePlugins(env, await readConfigFile(env))),
              env,
              write: () => undefined,
            }),
            {
              instanceOf: PluginError,
            },
          );
          t.regex(
            error.message,
            new RegExp(
              `plugin ${user} needs \\S+, but the plugin ${name} is not enabled; enable it or disable ${user}`,
            ),
          );
        }
      },
    );
}

test('none of those that are essential can be left out', async (t) => {
  for (const { name } of all.filter(({ essential }) => essential)) {
    const env = { ...environmentOf(await folderWith(t, { [name]: false })), ...NO_CORE };
    const { file } = await choosePlugins(env, await readConfigFile(env));
    t.deepEqual(file.problems, [
      `plugins.${name} in ${file.path}: the panel cannot start without the plugin ${name}; set it to true or remove the entry`,
    ]);
  }
});
