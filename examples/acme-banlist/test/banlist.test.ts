import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { FakeEngine, TestPanel } from '@weir-panel/weir/testing';
import banList from '../index.js';

test('bans stand in the file until they end, and the file goes with the driver', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [banList] });
  const path = join(panel.dataDirectory, 'acme-banlist.txt');
  const choose = async (banGuardDriver: string) => {
    await panel.get('/panel/api/setting/update', { body: { banGuardDriver } });
    await panel.kernel.settled();
    await panel.get('/panel/api/system/jobs/ban-guard/reconcile', { method: 'POST' });
  };
  const act = (what: string, body: object) => panel.get(`/panel/api/x/ban-guard/${what}`, { body });
  const listed = async () =>
    (await readFile(path, 'utf8')).split('\n').flatMap((line) => line.split(' ')[0] || []);

  await choose('acme-banlist');
  await act('ban', { address: '198.51.100.7' });
  await act('ban', { address: '2001:db8::1', minutes: 5 });
  t.deepEqual(await listed(), ['198.51.100.7', '2001:db8::']);
  await act('ban', { address: '198.51.100.7', minutes: 60 });
  t.deepEqual(await listed(), ['2001:db8::', '198.51.100.7'], 'with another time');
  await act('unban', { address: '2001:db8::' });
  t.deepEqual(await listed(), ['198.51.100.7']);
  await choose('');
  await t.throwsAsync(stat(path), { code: 'ENOENT' });
});
