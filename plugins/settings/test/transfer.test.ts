// Runs on every database in test:full.
// Settings that go from one panel to another.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, setting, text } from '../../../kernel/index.js';
import { FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import type { PanelOptions } from '../../../test/harness/panel.js';
import type { Exported, Imported } from '../transfer.js';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

const shop = definePlugin({
  name: 'shop',
  version: '1.0.0',
  api: 1,
  about: 'Has a secret.',
  settings: { 'shop.key': setting(text().max(50), '', 'a secret', { secret: true }) },
});

async function boot(t: ExecutionContext, options: PanelOptions = {}) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], ...options });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return {
    panel,
    exported: () => panel.get<Exported>('/panel/api/x/settings/export'),
    imported: (body: object) =>
      panel.call<Imported & { issues?: { path: string }[] }>('/panel/api/x/settings/import', { body }),
    value: async (name: string) =>
      (await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' }))[name],
  };
}

/** A panel whose ports are not in the environment. */
async function bootWithPorts(t: ExecutionContext) {
  const first = await boot(t);
  await first.panel.stop();
  const { dataDirectory } = first.panel;
  const ports = [await freePort(), await freePort()];
  await editDatabase(dataDirectory, [
    `INSERT INTO settings VALUES ('webPort', '${ports[0]}', 0), ('subPort', '${ports[1]}', 0)`,
  ]);
  return boot(t, { dataDirectory, env: { WEIR_PANEL_PORT: '', WEIR_SUB_PORT: '' } });
}

test('an export has every setting but secrets, and an import shows its plan before it is applied', async (t) => {
  const from = await boot(t, { outside: [shop] });
  await from.panel.get('/panel/api/setting/update', {
    body: { pageSize: 77, subTitle: 'shop', 'shop.key': 'never-exported' },
  });
  const file = await from.exported();
  t.is(file.kind, 'weir-settings');
  t.is(file.settings['pageSize'], 77);
  t.false(JSON.stringify(file).includes('never-exported'));
  t.false('subPort' in file.settings, 'the environment sets it, for this machine');
  const left = file.leftOut.map(({ name }) => name);
  t.true(left.includes('twoFactorToken') && left.includes('twoFactorEnable') && left.includes('shop.key'));
  const all = await from.panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  const known = new Set([...Object.keys(file.settings), ...left, 'pinned', 'version']);
  t.deepEqual(
    Object.keys(all).filter((name) => !known.has(name) && !/^has[A-Z]/.test(name)),
    [],
  );

  const to = await bootWithPorts(t);
  const port = await freePort();
  const sent = { ...file, settings: { ...file.settings, webPort: port } };
  const plan = await to.imported(sent);
  t.is(plan.status, 200, plan.text);
  t.false(plan.body.obj.applied);
  t.deepEqual(
    plan.body.obj.changes.find(({ name }) => name === 'pageSize'),
    { name: 'pageSize', before: 25, after: 77, from: 'now' },
  );
  t.is(plan.body.obj.changes.find(({ name }) => name === 'webPort')?.from, 'next start');
  t.regex(plan.body.msg, /would change; webPort: from the next start/);
  t.is(await to.value('pageSize'), 25, 'nothing has changed yet');
  const done = await to.imported({ settings: { pageSize: 77, subTitle: 'shop' }, apply: true });
  t.true(done.body.obj.applied);
  t.is(await to.value('pageSize'), 77);
  t.is(await to.value('subTitle'), 'shop');
  t.is(done.body.obj.changes.length, 2);
  const again = await to.imported({ settings: { pageSize: 77 }, apply: true });
  t.like(again.body.obj, { applied: false, unchanged: 1, changes: [] });
});

test('an import names everything that is wrong at once, and changes nothing', async (t) => {
  const { imported, value } = await boot(t);
  const answer = await imported({
    settings: { pageSize: 5000, sessionMaxAge: 0, timeLocation: 'Nowhere/Else', subTitle: 'fine' },
    apply: true,
  });
  t.is(answer.status, 400);
  t.deepEqual(answer.body.obj.issues?.map(({ path }) => path).sort(), [
    'pageSize',
    'sessionMaxAge',
    'timeLocation',
  ]);
  t.not(await value('subTitle'), 'fine');
  for (const body of [
    {},
    { settings: [] },
    { settings: {}, kind: 'other' },
    { settings: {}, apply: 'maybe' },
  ])
    t.is((await imported(body)).status, 400, JSON.stringify(body));
});

test('what this panel does not take is named, and the rest is imported', async (t) => {
  const { imported, value } = await boot(t, { env: { WEIR_BASE_PATH: '/' } });
  const { status, body } = await imported({
    settings: {
      pageSize: 60,
      webBasePath: '/other/',
      'acme.colour': 'red',
      twoFactorToken: SECRET,
      twoFactorEnable: true,
      constructor: 1,
    },
    apply: true,
  });
  t.is(status, 200, body.msg);
  t.deepEqual(body.obj.leftOut, [
    { name: 'webBasePath', reason: 'WEIR_BASE_PATH sets it in the environment' },
    { name: 'acme.colour', reason: 'this panel has no such setting' },
    { name: 'twoFactorToken', reason: 'it is a secret' },
    { name: 'twoFactorEnable', reason: 'it needs the secret of an authenticator' },
    { name: 'constructor', reason: 'this panel has no such setting' },
  ]);
  t.is(await value('pageSize'), 60);
  t.false(await value('twoFactorEnable'));
});

test('rules across fields hold for an import and for its plan', async (t) => {
  const { imported } = await bootWithPorts(t);
  const server = createServer().listen(0);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const apply of [false, true]) {
    const taken = await imported({ settings: { webPort: port, pageSize: 61 }, apply });
    t.is(taken.body.code, 'SETTINGS_PORT_TAKEN', taken.text);
  }
});

test('an update names pinned settings together with everything else that is wrong', async (t) => {
  const { panel } = await boot(t, { env: { WEIR_BASE_PATH: '/', WEIR_ALLOWED_HOSTS: '127.0.0.1' } });
  const update = (body: object) =>
    panel.call<{ issues: { path: string }[] }>('/panel/api/setting/update', { body });
  const both = await update({ webBasePath: '/other/', pageSize: 5000, allowedHosts: ['a.example'] });
  t.is(both.status, 400);
  t.deepEqual(both.body.obj.issues.map(({ path }) => path).sort(), [
    'allowedHosts',
    'pageSize',
    'webBasePath',
  ]);
  const pinned = await update({ webBasePath: '/other/', allowedHosts: ['a.example'] });
  t.is(pinned.body.code, 'SETTINGS_PINNED');
  t.deepEqual(pinned.body.obj.issues.map(({ path }) => path).sort(), ['allowedHosts', 'webBasePath']);
});
