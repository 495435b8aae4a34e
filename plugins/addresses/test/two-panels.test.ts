// Runs on every database in test:full.
// Addresses of a client that several panels on one database have seen.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Panels } from '../../cluster/test/two-panels.js';

const onServer = onSqlite ? test.skip : test;

const seen = (panel: PanelProcess) => panel.get<{ ip: string }[]>('/panel/api/clients/ips/ann', { body: {} });

onServer('what an admin clears in one panel is forgotten by all, and written by none again', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const inbound = await a.addInbound();
  await a.addClient('ann', [inbound]);
  const timestamp = Math.floor(Date.now() / 1000);
  await b.get('/panel/api/server/clientIps', {
    body: [{ clientEmail: 'ann', ips: [{ ip: '198.51.100.7', timestamp }] }],
  });
  t.is((await seen(b)).length, 1);
  await a.get('/panel/api/clients/clearIps/ann', { body: {} });
  await b.until(async () => (await seen(b)).length === 0, 'the other panel forgets', 5_000);
  // What is left to write is written when a panel stops.
  await b.kill('SIGTERM');
  t.deepEqual(await panels.query('SELECT * FROM addresses_seen'), []);
  t.deepEqual(await seen(a), []);
  t.deepEqual([...a.faults, ...b.faults], []);
});
