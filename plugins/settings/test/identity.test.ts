// Runs on every database.
// The panel's own guid: generated once, the same everywhere it is shown, and never a setting.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const boot = (dataDirectory?: string): Promise<TestPanel> =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
const guidOf = async (panel: TestPanel): Promise<string | undefined> =>
  Object.keys(
    await panel.get<Record<string, unknown>>('/panel/api/clients/onlinesByGuid', { method: 'POST' }),
  )[0];

test('the guid stays over a restart, differs between panels, and local inbounds show it', async (t) => {
  const first = await boot();
  let last = first;
  t.teardown(() => last[Symbol.asyncDispose]());
  const guid = await guidOf(first);
  t.regex(guid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const id = await first.addInbound();
  await first.stop();
  last = await boot(first.dataDirectory);
  t.is(await guidOf(last), guid);
  for (const path of ['list', 'list/slim']) {
    const rows = await last.get<{ originNodeGuid: string }[]>(`/panel/api/inbounds/${path}`);
    t.deepEqual(
      rows.map(({ originNodeGuid }) => originNodeGuid),
      [guid],
    );
  }
  t.like(await last.get(`/panel/api/inbounds/get/${id}`), { originNodeGuid: guid });

  const other = await boot();
  t.teardown(() => other[Symbol.asyncDispose]());
  t.not(await guidOf(other), guid);
});

test('no route of settings shows or changes it', async (t) => {
  const panel = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const guid = (await guidOf(panel)) ?? '';
  for (const path of ['all', 'factoryDefaults', 'defaultSettings']) {
    const { text } = await panel.call(`/panel/api/setting/${path}`, { method: 'POST' });
    t.false(text.includes(guid), path);
  }
  await panel.call('/panel/api/setting/update', { body: { panelGuid: 'mine', guid: 'mine' } });
  t.is(await guidOf(panel), guid);
});
