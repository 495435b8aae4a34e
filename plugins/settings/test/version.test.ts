// Panels on one database have the same version of the settings, whatever the environment of their machines sets.
import test from 'ava';
import { TestPanel } from '../../../test/harness/index.js';

test('what the environment sets is no part of the version; all else is', async (t) => {
  const versionOf = async (panel: TestPanel): Promise<string> =>
    (await panel.get<{ version: string }>('/panel/api/setting/all', { method: 'POST' })).version;
  const first = await TestPanel.boot({ env: { WEIR_SUB_HOST: '127.0.0.1' } });
  const { dataDirectory } = first;
  const version = await versionOf(first);
  await first.stop();
  const second = await TestPanel.boot({ dataDirectory, env: { WEIR_SUB_HOST: '127.0.0.2' } });
  t.is(await versionOf(second), version);
  await second.get('/panel/api/setting/update', { body: { subTitle: 'another' } });
  t.not(await versionOf(second), version);
  await second.stop();
});
