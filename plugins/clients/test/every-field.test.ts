// Runs on every database.
// Each field that callers send is stored, shown, exported and imported, because of its declaration alone.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { fields, sentFields, shownFields, trafficFields } from '../model/fields.js';

type Values = Readonly<Record<string, unknown>>;
const API = '/panel/api/clients';

/** A value that no new client has by itself. */
const VALUES: Values = {
  email: 'every',
  subId: 'sub-1',
  uuid: 'c0ffee00-0000-4000-8000-000000000001',
  password: 'secret-1',
  auth: 'auth-1',
  security: 'aes-128-gcm',
  adTag: '0123456789abcdef0123456789abcdef',
  flow: 'xtls-rprx-vision',
  totalGB: 2 ** 41,
  expiryTime: -86_400_000,
  enable: false,
  limitIp: 2,
  limitHwid: 3,
  tgId: 4,
  group: 'family',
  comment: 'line 1\nline 2',
  reset: 5,
  resetDay: 6,
  resetMax: 7,
  trafficReset: 'monthly',
  trafficResetDay: 8,
  reverse: { tag: 'r', n: [1, null] },
};
/** The test that shows what each field does, beside being stored. */
const ACTS_IN: Readonly<Record<string, string>> = {
  email: 'plugins/clients/test/edits.test.ts',
  subId: 'plugins/devices/test/gate.test.ts',
  uuid: 'plugins/clients/test/seen-by-core.test.ts',
  password: 'plugins/clients/test/seen-by-core.test.ts',
  auth: 'test/engine/hysteria.core.test.ts',
  security: 'plugins/inbounds/test/entries.test.ts',
  adTag: 'plugins/inbounds/test/programs.test.ts',
  flow: 'plugins/clients/test/flow.test.ts',
  totalGB: 'plugins/traffic/test/limits.test.ts',
  expiryTime: 'plugins/traffic/test/limits.test.ts',
  enable: 'plugins/clients/test/own-switch.test.ts',
  limitIp: 'plugins/addresses/test/limit.test.ts',
  limitHwid: 'plugins/devices/test/gate.test.ts',
  tgId: 'plugins/clients/test/edits.test.ts',
  group: 'plugins/clients/test/groups.test.ts',
  comment: 'plugins/clients/test/lists-after-edits.test.ts',
  reset: 'plugins/traffic/test/renewals.test.ts',
  resetDay: 'plugins/traffic/test/renewals.test.ts',
  resetMax: 'plugins/traffic/test/renewals.test.ts',
  trafficReset: 'plugins/traffic/test/client-resets.test.ts',
  trafficResetDay: 'plugins/traffic/test/client-resets.test.ts',
  reverse: 'test/engine/vless-reverse.core.test.ts',
};
const pick = (from: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

test('the test has a value for each field', (t) => {
  t.deepEqual(Object.keys(VALUES).sort(), [...sentFields].sort());
  const initial = fields.create({}) as Values;
  for (const name of sentFields) t.notDeepEqual(VALUES[name], initial[name], name);
});

test('a test shows what each field does', async (t) => {
  t.deepEqual(Object.keys(ACTS_IN).sort(), [...sentFields].sort());
  const root = await sourceRoot();
  for (const [name, path] of Object.entries(ACTS_IN)) {
    const text = await readFile(new URL(path, root), 'utf8').catch(() => '');
    t.true(new RegExp(`\\b${name}\\b`).test(text), `${path} has nothing about ${name}`);
  }
});

test('each field is stored, shown, exported and imported, and survives a restart', async (t) => {
  let panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const inbound = await panel.addInbound();
  const shown = () => panel.get<Values & { traffic: Values }>(`${API}/get/every`);

  await panel.addClient('every', [inbound], VALUES);
  t.deepEqual(pick(await shown(), sentFields), VALUES, 'add');
  t.deepEqual(
    shownFields.filter((name) => !(name in VALUES)),
    ['createdAt', 'updatedAt'],
  );
  const { traffic } = await shown();
  for (const [shownAs, name] of trafficFields)
    if (name in VALUES) t.deepEqual(traffic[shownAs], VALUES[name], shownAs);

  const exported = await panel.get<{ client: Values; inboundIds: number[] }[]>(`${API}/export`);
  const { createdAt, updatedAt } = await shown();
  const times = { createdAt, updatedAt, created_at: createdAt, updated_at: updatedAt };
  const client = { id: VALUES['uuid'], ...VALUES, depletedCause: null, ...times };
  t.deepEqual(exported, [{ client, inboundIds: [inbound] }]);
  await panel.get(`${API}/del/every`, { method: 'POST' });
  await panel.get(`${API}/import`, { body: { data: JSON.stringify(exported) } });
  t.deepEqual(pick(await shown(), sentFields), VALUES, 'import');

  const whole = await panel.get<Values>(`/panel/api/inbounds/get/${inbound}`);
  await panel.get(`/panel/api/inbounds/del/${inbound}`, { method: 'POST' });
  await panel.get(`${API}/del/every`, { method: 'POST' });
  const imported = await panel.call('/panel/api/inbounds/import', { body: { data: whole } });
  t.is(imported.body.msg, 'inbound imported with 1 clients');
  t.deepEqual(pick(await shown(), sentFields), VALUES, 'import of an inbound');
  const [back] = await panel.get<{ id: number }[]>('/panel/api/inbounds/list');

  // An update sets each field by itself.
  await panel.get(`${API}/del/every`, { method: 'POST' });
  await panel.addClient('every', [back?.id ?? 0]);
  for (const name of sentFields) await panel.get(`${API}/update/every`, { body: { [name]: VALUES[name] } });
  t.deepEqual(pick(await shown(), sentFields), VALUES, 'update');

  const { dataDirectory } = panel;
  await panel.stop();
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory });
  t.deepEqual(pick(await shown(), sentFields), VALUES, 'restart');
});
